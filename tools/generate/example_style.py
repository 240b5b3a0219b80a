"""Make generated programs look as if a person had written them.

Each function takes a program and the name of its example, and returns the program. Its changes are either a matter of
style, such as unused imports, or correct a mistake of the generator, which a comment explains.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Final

from workspace import ROOT

from generate.examples import FILES, FOLDER, SOURCE
from generate.languages import LANGUAGES

_DESCRIPTION: Final = re.compile(r'^description: "?(.*?)"?$', re.MULTILINE)
_JAVA: Final = LANGUAGES["java"]
_JAVA_PACKAGE: Final = f"{_JAVA['basePackage']}.{_JAVA['packages']['gcpx']}"


def csharp(text: str, name: str) -> str:
    """Leave out an unused import and trailing spaces, and shorten the names of results."""
    del name
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).replace("using System.Linq;\n", "")
    return re.sub(r"\b(\w+Result) => \1\.", "result => result.", text).strip() + "\n"


def go(text: str, name: str) -> str:
    """Return the program unchanged: the generator formats it."""
    del name
    return text


def java(text: str, name: str) -> str:
    """Name the package after the example, and correct compilation errors."""
    text = text.replace("package generated_program;", f"package {name.replace('-', '')};")
    # For the classes of inputs and functions, the generator ignores the schema's `basePackage` and `packages`.
    text = re.sub(r"^import (?:com\.pulumi|dev\.gcpx)\.gcpx\.", f"import {_JAVA_PACKAGE}.", text, flags=re.MULTILINE)
    # It writes lists like arrays.
    text = re.sub(r"\(\)\[(\d+)\]", r"().get(\1)", text)
    text = re.sub(r"\b_(\w+) -> _\1\.", "result -> result.", text)
    text = re.sub(r"\(\s+(\"[^\n]*),\n\s+(\"[^\n]*\"\))", r"(\1, \2", text)
    return _sorted_imports(_without_unused_imports(text))


def python(text: str, name: str) -> str:
    """Add the example's description as its docstring, and format the program like this repository."""
    [description] = _DESCRIPTION.findall((FOLDER / name / SOURCE).read_text())
    text = re.sub(r"^pulumi\.export", "\n\\g<0>", text, count=1, flags=re.MULTILINE)
    text = f'"""{description}."""\n\n{text}'
    path = str(FOLDER / name / FILES["python"])
    text = _ruff(text, "check", "--fix-only", "--select=I,Q", "--quiet", f"--stdin-filename={path}")
    return _ruff(text, "format", "--config=format.skip-magic-trailing-comma=true", f"--stdin-filename={path}")


def typescript(text: str, name: str) -> str:
    """Leave out an unused import, and separate the exports."""
    del name
    if text.count("pulumi.") == 0:
        text = text.replace('import * as pulumi from "@pulumi/pulumi";\n', "")
    return re.sub(r"^export", "\n\\g<0>", text, count=1, flags=re.MULTILINE)


STYLES: Final[dict[str, Callable[[str, str], str]]] = {
    "csharp": csharp,
    "go": go,
    "java": java,
    "python": python,
    "typescript": typescript,
}


def _without_unused_imports(text: str) -> str:
    def kept(line: str) -> bool:
        found = re.fullmatch(r"import [\w.]+\.(\w+);", line)
        return found is None or len(re.findall(rf"\b{found[1]}\b", text)) > 1

    return "\n".join(filter(kept, text.splitlines())) + "\n"


def _sorted_imports(text: str) -> str:
    """Sort the lines of imports, which form one block."""
    imports = re.findall(r"^import .*\n", text, re.MULTILINE)
    return text.replace("".join(imports), "".join(sorted(imports)))


def _ruff(text: str, *command: str) -> str:
    arguments = [sys.executable, "-m", "ruff", *command, "-"]
    return subprocess.run(arguments, cwd=ROOT, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout
