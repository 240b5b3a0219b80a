"""The examples of resources and functions: their files, and their form in the schema's descriptions."""

from __future__ import annotations

import ast
import re
from typing import Final

from workspace import ROOT

FOLDER: Final = ROOT / "examples"
SOURCE: Final = "yaml/Pulumi.yaml"
"""The program from which all others are generated."""
FILES: Final = {
    "typescript": "typescript/index.ts",
    "python": "__main__.py",
    "go": "go/main.go",
    "csharp": "csharp/Program.cs",
    "java": "java/App.java",
    "yaml": SOURCE,
}
"""The program of each language in an example's folder, by the language names of Pulumi's documentation."""


def names() -> list[str]:
    """Return the names of the examples that exist in every language."""
    return sorted(path.parents[1].name for path in FOLDER.glob(f"*/{SOURCE}"))


def example_of(token: str) -> str:
    """Return the name of a resource's or function's example: `ssh-key` for `gcpx:oslogin:SshKey`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", token.rpartition(":")[2]).lower()


def markdown(token: str) -> str:
    """Return the section of a description that shows an example in every language.

    The form is that of Pulumi's package schemas: the generator of an SDK keeps the block of its own language, and the
    registry shows one at a time. Comments around the blocks, which some providers use instead, would stay in the SDKs.
    """
    blocks = "\n".join(block(language, program(token, language)) for language in FILES)
    return (
        f"{{{{% examples %}}}}\n## Example Usage\n{{{{% example %}}}}\n\n{blocks}\n\n"
        f"{{{{% /example %}}}}\n{{{{% /examples %}}}}\n"
    )


def block(language: str, text: str) -> str:
    """Return a program as a block of code in Markdown."""
    return f"```{language}\n{text}\n```"


def program(token: str, language: str) -> str:
    """Read the example of a resource or function without its docstring or the header of its project."""
    text = (FOLDER / example_of(token) / FILES[language]).read_text()
    if language == "python":
        text = "\n".join(text.splitlines()[ast.parse(text).body[0].end_lineno :])
    elif language == "yaml":
        _, _, text = text.partition("runtime: yaml\n")
    return text.strip()
