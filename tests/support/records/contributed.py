"""A pytest plugin that adds the resource of CONTRIBUTING.md to the provider and to the samples, in this process.

`pytest -p records.contributed` runs tests with that resource in addition to the others. Its modules are the blocks of the page.
"""

from __future__ import annotations

import re
import sys
import textwrap
from types import ModuleType
from typing import Final

import samples
from workspace import ROOT

from gcpx.provider import RESOURCES

_PAGE: Final = (ROOT / "CONTRIBUTING.md").read_text()
_LINE: Final = re.compile(r'the line `"([\w:]+)": "([\w.]+)",` to `RESOURCES`')
_BLOCK: Final = re.compile(r"^   ```python\n(.*?)^   ```$", re.DOTALL | re.MULTILINE)


def _load(name: str, block: re.Match[str]) -> ModuleType:
    """Run a block as a module; errors in it have the line numbers of the page."""
    lines_before = "\n" * _PAGE.count("\n", 0, block.start(1))
    module = sys.modules[name] = ModuleType(name)
    exec(compile(lines_before + textwrap.dedent(block[1]), "CONTRIBUTING.md", "exec"), vars(module))
    return module


def _add() -> None:
    """Do what the page says: add the line to `RESOURCES`, and the two modules."""
    line = _LINE.search(_PAGE)
    assert line is not None, "CONTRIBUTING.md has no line for RESOURCES"
    resource, sample = _BLOCK.finditer(_PAGE)
    token, module = line.groups()
    _load(module, resource)
    RESOURCES[token] = module
    name = module.rpartition(".")[2]
    samples.register(name, _load(f"samples.{name}", sample).SAMPLE)


_add()
