"""Replace the secrets in an exported stack, so that it can be kept where pull requests are previewed.

    pulumi stack export --stack prod | python remove_secrets.py > state/prod.json

Each secret becomes the text "removed", so that no key of the stack's secrets provider is needed to read the state.
"""

import json
import sys
from typing import Any

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"
"""The key and the value by which Pulumi marks secrets in its state."""


def without_secret(found: dict[str, Any]) -> dict[str, Any] | str:
    """Return an object of the state, or what replaces it if it is a secret."""
    return "removed" if found.get(SIGNATURE) == SECRET else found


def main() -> None:
    """Read the export from stdin, and write it to stdout."""
    exported = json.load(sys.stdin, object_hook=without_secret)
    exported["deployment"].pop("secrets_providers", None)
    json.dump(exported, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
