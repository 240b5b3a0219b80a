"""Run the plugin of this checkout: the Pulumi CLI's Python host runs `venv/bin/python FOLDER ENGINE_ADDRESS`.

The plugin's code is that of the checkout; the virtual environment, which `pulumi package add` makes, has the packages
that the code needs. This file says what to do if they are missing, so it uses only the standard library, and only
syntax that old versions of Python know.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent
OLDEST = (3, 11)


def main() -> None:
    """Run the plugin, or exit with a message that says how to install what it needs."""
    if sys.version_info < OLDEST:
        _stop("the plugin needs Python {}.{} or later".format(*OLDEST))
    sys.path[0] = str(ROOT / "provider")
    try:
        plugin = importlib.import_module("gcpx.__main__")
        importlib.import_module("gcpx.protocol.server")  # needs gRPC, which a broken environment lacks
    except ImportError as error:
        _stop(f"a package that the plugin needs is not installed: {error}")
    plugin.main()


def _stop(reason: str) -> NoReturn:
    """Exit with a message: what is wrong, and what to do next."""
    version = ".".join(map(str, sys.version_info[:3]))
    sys.exit(
        f"\ngcpx cannot start: {reason}. This is Python {version} in {sys.prefix}.\n"
        f"What to do: delete the folder {ROOT / 'venv'}, and run `pulumi install` in your project.\n"
        "Or install the plugin archive, which needs no Python: see docs/installation.md."
    )


if __name__ == "__main__":
    main()
