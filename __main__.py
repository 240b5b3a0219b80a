"""Run the plugin of this checkout: the Pulumi CLI's Python host runs `python FOLDER ENGINE_ADDRESS`.

The plugin's code is that of the checkout. The virtual environment, which `pulumi package add` makes, has the packages
that the code needs. This file uses only the standard library, and syntax that old versions of Python know, because it
says what to do if the environment does not work.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
OLDEST = (3, 11)
ENVIRONMENTS = (ROOT / "venv", ROOT)
"""Where hosts make the environment; those before 3.148.0 do not know the option `virtualenv`, and make it in ROOT."""
BIN = "Scripts" if os.name == "nt" else "bin"
ARCHIVE = "Or install the plugin archive, which needs no Python: docs/installation.md says how."


def main() -> None:
    """Run the plugin in its environment, or exit with a message that says how to repair that."""
    environment = next((folder for folder in ENVIRONMENTS if (folder / "pyvenv.cfg").is_file()), None)
    if environment is not None and environment != Path(sys.prefix).resolve():
        _run_in(environment)
    if sys.version_info < OLDEST:
        _stop(f"this is Python {_version()}, and the plugin needs {'.'.join(map(str, OLDEST))} or later", environment)
    sys.path[0] = str(ROOT / "provider")
    try:
        plugin = importlib.import_module("gcpx.__main__")
    except ImportError as error:
        _stop(f"a package that the plugin needs is missing ({error})", environment)
    plugin.main()


def _run_in(environment: Path) -> None:
    """Replace this process by one with the environment's Python; returns nothing."""
    python = environment / BIN / "python"
    command = [str(python), str(ROOT), *sys.argv[1:]]
    try:
        if os.name == "nt":  # where exec would end this process at once, and with it the engine's connection
            sys.exit(subprocess.call(command))  # noqa: S603 - the interpreter of our own environment
        os.execv(python, command)  # noqa: S606 - likewise
    except OSError as error:
        _stop(f"the Python that made {environment} is gone ({error.strerror}: {python})", environment)


def _stop(reason: str, environment: Path | None) -> None:
    """Exit with a message: what is wrong, and what to do next."""
    if environment is None:
        repair = f"Run `pulumi package add {ROOT}` in your project; it makes a virtual environment with what is needed."
    else:
        repair = f"Delete {ROOT / 'venv'}, and run `pulumi install` in your project; it makes the environment again."
    sys.exit(f"gcpx cannot start: {reason}.\n{repair}\n{ARCHIVE}")


def _version() -> str:
    return ".".join(map(str, sys.version_info[:3]))


if __name__ == "__main__":
    main()
