"""Fail when a generated file in the repository is not what generating gives."""

from __future__ import annotations

import filecmp
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import package_schema
import rules_page
from sdk import generate
from workspace import ROOT

TEXTS = {"schema.json": package_schema.text, "RULES.md": rules_page.text}


def drift() -> Iterator[str]:
    """Name every file that differs."""
    stale = [path for path, text in TEXTS.items() if (ROOT / path).read_text() != text()]
    yield from stale
    if "schema.json" in stale:
        return
    with tempfile.TemporaryDirectory() as scratch:
        fresh, ours = Path(scratch) / "sdk", ROOT / "sdk" / "python"
        generate(fresh)
        for path in sorted({item.relative_to(root) for root in (fresh, ours) for item in _files(root)}):
            if not (
                (fresh / path).exists() and (ours / path).exists() and filecmp.cmp(fresh / path, ours / path, False)
            ):
                yield f"sdk/python/{path}"


def _files(root: Path) -> list[Path]:
    return [
        item
        for item in root.rglob("*")
        if item.is_file() and not {"__pycache__"} & set(item.parts) and "egg-info" not in str(item)
    ]


if __name__ == "__main__":
    found = list(drift())
    if found:
        sys.exit(f"not what the models give: {', '.join(found)}; run `make sdk` and commit the result")
    print("schema.json, RULES.md and sdk/python are current")
