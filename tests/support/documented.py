"""The programs that a document shows."""

from __future__ import annotations

import re

from workspace import ROOT


def program(document: str, language: str) -> str:
    """Return the only code block of a language in a document below the root."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / document).read_text(), re.DOTALL | re.MULTILINE)
    return str(found)
