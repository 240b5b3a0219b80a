"""Examples of a resource or a function in Markdown, one for each language in its schema description."""

from __future__ import annotations

import re
from typing import Final

from generate.examples import block

NAMES: Final = {
    "python": "Python",
    "typescript": "TypeScript",
    "go": "Go",
    "csharp": "C#",
    "java": "Java",
    "yaml": "YAML",
}
"""Pulumi's languages by the names of their code blocks, in the order of the tabs."""
_EXAMPLES: Final = re.compile(r"\{\{% examples %\}\}(.*?)\{\{% /examples %\}\}", re.DOTALL)
_BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)\n```$", re.DOTALL | re.MULTILINE)


def programs(description: str) -> dict[str, str]:
    """Return the programs in a description of the schema by language, in the order of `NAMES`."""
    found = dict(_BLOCK.findall("".join(_EXAMPLES.findall(description))))
    return {language: found[language] for language in NAMES if language in found}


def tabs(description: str) -> str:
    """Return the programs in a description as Markdown.

    Comments enclose several languages: GitHub shows each of them as a collapsible section, and the built site as a tab.
    """
    blocks = {language: block(language, program) for language, program in programs(description).items()}
    if len(blocks) == 1:
        return "\n".join([*blocks.values(), ""])
    sections = [
        _section(NAMES[language], shown, is_open=not index) for index, (language, shown) in enumerate(blocks.items())
    ]
    return "\n".join(["<!-- tabs -->", *sections, "<!-- end of tabs -->", ""])


def _section(name: str, shown: str, *, is_open: bool) -> str:
    return f"<details{' open' if is_open else ''}><summary>{name}</summary>\n\n{shown}\n\n</details>"
