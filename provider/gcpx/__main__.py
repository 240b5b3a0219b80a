"""The plugin: `pulumi-resource-gcpx [flags] ENGINE_ADDRESS`."""

from __future__ import annotations

import gc
import sys
from typing import Final

from gcpx import __version__
from gcpx.protocol.standard_error import hide_values

_VERSION: Final = f"pulumi-resource-gcpx {__version__}\n"
_ABOUT: Final = f"""\
{_VERSION.strip()} is a plugin: the Pulumi CLI starts it for each program that uses gcpx, with the engine's address.
To use it, install it with `pulumi plugin install` or `pulumi package add`: docs/installation.md says how.
"""
_BY_HAND: Final = f"""\
{_ABOUT}
Now it serves without an engine, on the port printed below, until you press ^C. To debug it, run in another shell:
    PULUMI_DEBUG_PROVIDERS=gcpx:PORT pulumi up
"""


def main() -> None:
    """Serve the provider to the engine at the address in the last argument; ignore the engine's flags.

    With `--version` or `--help`, print the version or a description instead.
    """
    arguments = sys.argv[1:]
    for option, text in (("--version", _VERSION), ("--help", _ABOUT)):
        if option in arguments:
            sys.stdout.write(text)
            return
    hide_values()
    addresses = [argument for argument in arguments if not argument.startswith("-")]
    if not addresses and sys.stderr.isatty():
        sys.stderr.write(_BY_HAND)
    gc.disable()  # nothing loaded is garbage, and looking for some takes time; `serve` enables it again
    from gcpx.protocol.server import serve  # noqa: PLC0415 - loads gRPC, which no option needs
    from gcpx.provider import Provider  # noqa: PLC0415 - as above

    serve(Provider(), addresses[-1] if addresses else None)


if __name__ == "__main__":
    main()
