"""The programs and the commands that a document shows."""

from __future__ import annotations

import re

from workspace import ROOT


def program(document: str, language: str) -> str:
    """Return the first code block of a language in a document below the root."""
    found, *_ = re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / document).read_text(), re.DOTALL | re.MULTILINE)
    return str(found)


def commands(document: str, heading: str) -> str:
    """Return the first block of shell commands below a heading of a document."""
    _, _, section = (ROOT / document).read_text().partition(f"\n### {heading}\n")
    found = re.search(r"^```sh\n(.*?)^```$", section.partition("\n### ")[0], re.DOTALL | re.MULTILINE)
    assert found, f"{document}: {heading} has no commands"
    return found[1]
