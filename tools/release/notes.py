"""Print the changelog's section about this checkout's version, for the release."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = "provider/gcpx/__init__.py"


def declared_version(root: Path) -> str:
    """Read the version from its only declaration; empty if it is missing."""
    found = re.search(r'^__version__ = "([^"]+)"$', (root / SOURCE).read_text(), re.MULTILINE)
    return found[1] if found else ""


def sections(root: Path) -> dict[str, str]:
    """Return the text of each section of the changelog, by its version."""
    found = re.findall(r"^## (\S+).*?$(.*?)(?=^## |\Z)", (root / "CHANGELOG.md").read_text(), re.MULTILINE | re.DOTALL)
    return {version: text.strip() for version, text in found}


if __name__ == "__main__":
    print(sections(ROOT)[declared_version(ROOT)])
