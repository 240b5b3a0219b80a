"""Leads Python programs from Google's hosts to an emulator.

Python imports this file at its start, because `gcpx-emulator run` puts its folder on PYTHONPATH. The program may run in
an environment without this package.
"""
# ruff: noqa: INP001 - a folder of PYTHONPATH

import importlib
import os
import runpy
import sys
from pathlib import Path

_HERE = Path(__file__).parent


def _redirect() -> None:
    replacements = runpy.run_path(str(_HERE.parent / "redirection.py"))["replacements"]
    for owner, name, function in replacements(os.environ):
        setattr(owner, name, function)


def _import_hidden() -> None:
    """Import the module of the same name that this one hides; systems and tools have one."""
    sys.path.remove(str(_HERE))
    own = sys.modules.pop(__name__)
    try:
        importlib.import_module(__name__)
    except ModuleNotFoundError:
        sys.modules[__name__] = own
    finally:
        sys.path.insert(0, str(_HERE))


if str(_HERE) in sys.path and "GCPX_EMULATOR_GOOGLE" in os.environ:
    _redirect()
    _import_hidden()
