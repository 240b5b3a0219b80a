"""Replace the secrets in an exported stack, so that it can be kept where pull requests are previewed.

    pulumi stack export --stack prod | python remove_secrets.py > state/prod.json.new

Each secret becomes the text "removed", which is still marked as a secret. The key of the stack's secrets provider is
not needed any more: `pulumi stack import` encrypts these texts with the passphrase `preview`.
"""

import json
import sys
from typing import Any

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"
"""The key and the value by which Pulumi marks secrets in its state."""
REMOVED = {SIGNATURE: SECRET, "plaintext": '"removed"'}
PROVIDER = {
    "type": "passphrase",
    "state": {"salt": "v1:V3tr4611lAI=:v1:IUdhpLdcbw5uoMaM:ZQ/cFmapFLgrE/Y6gVUyPdrcwVU9dg=="},
}
"""The encryption with the passphrase `preview`. It protects nothing, because nothing is left to protect."""


class ExportError(Exception):
    """What was read is not a whole export of a stack that was deployed. The message says what to do."""


def without_secret(found: dict[str, Any]) -> dict[str, Any]:
    """Return an object of the state, or what replaces it if it is a secret."""
    return REMOVED if found.get(SIGNATURE) == SECRET else found


def convert(export: str) -> Any:
    """Return an export without secrets, for the passphrase `preview`.

    Raises:
        ExportError: if it is not a whole export of a stack that was deployed.
    """
    try:
        converted: Any = json.loads(export, object_hook=without_secret)
        deployment = converted["deployment"]
    except json.JSONDecodeError as error:
        raise ExportError("stdin has no whole export; see the error of `pulumi stack export`") from error
    except (KeyError, TypeError) as error:
        raise ExportError("stdin is not an export of a stack; pass what `pulumi stack export` writes") from error
    if deployment is None:
        raise ExportError("the stack was never deployed, so it has no state; run `pulumi up` first")
    deployment["secrets_providers"] = PROVIDER
    return converted


def main() -> None:
    """Read the export from stdin, and write it to stdout."""
    try:
        json.dump(convert(sys.stdin.read()), sys.stdout, indent=2)
    except ExportError as error:
        sys.exit(f"remove_secrets.py: {error}")


if __name__ == "__main__":
    main()
