"""Replace the secrets in an exported stack, so that it can be kept where pull requests are previewed.

    pulumi stack export --stack prod | python remove_secrets.py > state/prod.json.new

Each secret becomes the text "removed", so that no key of the stack's secrets provider is needed to read the state.
"""

import json
import sys
from typing import Any

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"
"""The key and the value by which Pulumi marks secrets in its state."""


class ExportError(Exception):
    """What was read is not a whole export of a stack that was deployed. The message says what to do."""


def without_secret(found: dict[str, Any]) -> dict[str, Any] | str:
    """Return an object of the state, or what replaces it if it is a secret."""
    return "removed" if found.get(SIGNATURE) == SECRET else found


def convert(export: str) -> Any:
    """Return an export without secrets and without their provider.

    Raises:
        ExportError: if it is not a whole export of a stack that was deployed.
    """
    try:
        converted: Any = json.loads(export, object_hook=without_secret)
        converted["deployment"].pop("secrets_providers", None)
    except json.JSONDecodeError as error:
        raise ExportError("stdin has no whole export; see the error of `pulumi stack export`") from error
    except (KeyError, TypeError) as error:
        raise ExportError("stdin is not an export of a stack; pass what `pulumi stack export` writes") from error
    except AttributeError as error:  # the deployment is null
        raise ExportError("the stack was never deployed, so it has no state; run `pulumi up` first") from error
    return converted


def main() -> None:
    """Read the export from stdin, and write it to stdout."""
    try:
        json.dump(convert(sys.stdin.read()), sys.stdout, indent=2)
    except ExportError as error:
        sys.exit(f"remove_secrets.py: {error}")


if __name__ == "__main__":
    main()
