"""The plugin: `pulumi-resource-gcpx [flags] ENGINE_ADDRESS`."""

from __future__ import annotations

import sys

from gcpx import __version__
from gcpx.protocol.server import serve
from gcpx.protocol.standard_error import hide_values
from gcpx.provider import Provider


def main() -> None:
    """Serve the provider to the engine whose address is the last argument; the engine's flags are ignored.

    With `--version`, print the version instead.
    """
    arguments = sys.argv[1:]
    if "--version" in arguments:
        sys.stdout.write(f"pulumi-resource-gcpx {__version__}\n")
        return
    hide_values()
    addresses = [argument for argument in arguments if not argument.startswith("-")]
    serve(Provider(), addresses[-1] if addresses else None)


if __name__ == "__main__":
    main()
