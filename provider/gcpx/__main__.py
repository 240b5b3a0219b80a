"""The plugin: `pulumi-resource-gcpx [flags] ENGINE_ADDRESS`."""

from __future__ import annotations

import sys

from gcpx.protocol.server import serve
from gcpx.provider import Provider


def main() -> None:
    """Serve the provider to the engine whose address is the last argument; the engine's flags are ignored."""
    addresses = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    serve(Provider(), addresses[-1] if addresses else None)


if __name__ == "__main__":
    main()
