"""Make programs that Pulumi's generators wrote look as a person would write them.

Each function takes a program and the name of its example, and returns the program. What it changes is either a matter
of style, such as an import that is not used, or a mistake of the generator, which its comment explains.
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
    """Leave out an import that is not used and spaces at the ends of lines, and shorten the names of results."""
    del name
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).replace("using System.Linq;\n", "")
    return re.sub(r"\b(\w+Result) => \1\.", "result => result.", text).strip() + "\n"


def go(text: str, name: str) -> str:
    """Return the program as it is: the generator formats it."""
    del name
    return text


def java(text: str, name: str) -> str:
    """Name the package after the example, and correct what the compiler would refuse."""
    text = text.replace("package generated_program;", f"package {name.replace('-', '')};")
    # The generator knows neither `basePackage` nor `packages` of the schema for the classes of inputs and functions.
    text = re.sub(r"^import (?:com\.pulumi|dev\.gcpx)\.gcpx\.", f"import {_JAVA_PACKAGE}.", text, flags=re.MULTILINE)
    # It writes the elements of lists as if they were those of arrays.
    text = re.sub(r"\(\)\[(\d+)\]", r"().get(\1)", text)
    text = re.sub(r"\b_(\w+) -> _\1\.", "result -> result.", text)
    text = re.sub(r"\(\s+(\"[^\n]*),\n\s+(\"[^\n]*\"\))", r"(\1, \2", text)
    return _sorted_imports(_without_unused_imports(text))


def python(text: str, name: str) -> str:
    """Add the example's description as its docstring, and format the program as all of this repository."""
    [description] = _DESCRIPTION.findall((FOLDER / name / SOURCE).read_text())
    text = re.sub(r"^pulumi\.export", "\n\\g<0>", text, count=1, flags=re.MULTILINE)
    text = f'"""{description}."""\n\n{text}'
    path = str(FOLDER / name / FILES["python"])
    text = _ruff(text, "check", "--fix-only", "--select=I,Q", "--quiet", f"--stdin-filename={path}")
    return _ruff(text, "format", "--config=format.skip-magic-trailing-comma=true", f"--stdin-filename={path}")


def typescript(text: str, name: str) -> str:
    """Leave out an import that is not used, and set the exports apart."""
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
    """Sort the lines of imports, which are all in one block."""
    imports = re.findall(r"^import .*\n", text, re.MULTILINE)
    return text.replace("".join(imports), "".join(sorted(imports)))


def _ruff(text: str, *command: str) -> str:
    arguments = [sys.executable, "-m", "ruff", *command, "-"]
    return subprocess.run(arguments, cwd=ROOT, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout
