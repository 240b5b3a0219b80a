"""The properties of an SshKey, and what their values must be."""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx.model.fields import Record, field, output_field, record
from gcpx.model.links import name_of
from gcpx.model.location_patterns import PROJECT, REGION
from gcpx.model.numbers import as_integer
from gcpx.model.rules import Violation, rule, text
from gcpx.oslogin.ssh_key.public_key import parse_public_key, without_comment

_USER = (re.compile(r"(?:users/)?[^/\s?#%]+"), "an e-mail address or account ID, also as users/USER")
_EARLIEST_EXPIRATION: Final = 10**15
"""September 2001 in microseconds, long before OS Login; a smaller number counts seconds or milliseconds."""
_SSH_PUBLIC_KEY: Final = "OS Login REST reference: SshPublicKey, {}"
_IMPORT: Final = "OS Login REST reference: users.importSshPublicKey, {}"
_PARENT: Final = "OS Login REST reference: users.sshPublicKeys.create, parent"


def without_users_prefix(user: Any) -> str:
    """Reduce `users/USER` to `USER`."""
    return str(user).removeprefix("users/")


@rule("key must be an SSH public key, TYPE BASE64 [COMMENT], whose data has that type", _SSH_PUBLIC_KEY.format("key"))
def _key_is_an_ssh_public_key(values: dict[str, Any]) -> list[Violation]:
    key = values.get("key")
    if not isinstance(key, str):
        return []
    try:
        parse_public_key(key)
    except ValueError as error:
        return [("key", str(error))]
    return []


@rule(
    "expirationTimeUsec must be in microseconds; a time before September 2001 is refused",
    _SSH_PUBLIC_KEY.format("expirationTimeUsec"),
)
def _expiration_time_is_in_microseconds(values: dict[str, Any]) -> list[Violation]:
    given = as_integer(text(values, "expirationTimeUsec"))
    if given is None or not 0 < given < _EARLIEST_EXPIRATION:
        return []
    words = "must be in microseconds, and this value is a time before 2001: if it is in seconds, add six zeros"
    return [("expirationTimeUsec", words)]


@rule("regions requires projectId", _IMPORT.format("regions"))
def _regions_require_a_project(values: dict[str, Any]) -> list[Violation]:
    if values.get("regions") and values.get("projectId") is None:
        return [("regions", "requires projectId, the project whose POSIX account is written to these regions")]
    return []


@record
class SshKeyModel(Record):
    """An SSH public key in a user's OS Login profile.

    Users manage their own keys, so the credentials must be the user's. To manage the keys of a service account, set the
    provider's `impersonateServiceAccount`. A profile holds a key only once, so two stacks should not manage the same
    one. `expirationTimeUsec`, `projectId` and `regions` change in place; every other change replaces the key.
    """

    RULES = (_key_is_an_ssh_public_key, _expiration_time_is_in_microseconds, _regions_require_a_project)

    expiration_time_usec: str = field(
        "The time at which the key expires, in microseconds since 1970, such as `1924991999000000`. Default: never. Changes in place.",
        pattern=(re.compile(r"\d{1,19}"), "microseconds since 1970 as digits"),
        normalize=lambda text: str(text).lstrip("0"),
        default="0",
        source=_SSH_PUBLIC_KEY.format("expirationTimeUsec"),
    )
    fingerprint: str = output_field("The key's SHA-256 hash in hexadecimal.", always=True)
    key: str = field(
        "The public key in OpenSSH's format `TYPE BASE64 [COMMENT]`, such as `ssh-ed25519 AAAAC3... laptop`. A different comment or spacing is not a change.",
        required=True,
        normalize=without_comment,
        source=_SSH_PUBLIC_KEY.format("key"),
    )
    name: str = output_field("The key's full name, `users/USER/sshPublicKeys/FINGERPRINT`.", always=True)
    project_id: str = field(
        "The ID of a project in which to set up the user's POSIX account with the key, such as `my-project`. Default: none; no account is set up. Changes in place.",
        in_url=True,
        pattern=PROJECT,
        source=_IMPORT.format("projectId"),
    )
    regions: list[str] = field(
        "The regions that must have the POSIX account before the key counts as created, such as `[us-east1]`. Default: all regions. Requires `projectId`. Changes in place.",
        in_url=True,
        identity="set",
        pattern=REGION,
        normalize=name_of,
        source=_IMPORT.format("regions"),
    )
    user: str = field(
        "The e-mail address of the user, such as `me@example.com`, or the user's account ID.",
        required=True,
        in_url=True,
        pattern=_USER,
        normalize=without_users_prefix,
        source=_PARENT,
    )


@record
class SshKeyQuery(Record):
    """The user whose keys are listed."""

    user: str = field(
        "The e-mail address of the user whose keys are listed, such as `me@example.com`, or the user's account ID.",
        required=True,
        pattern=_USER,
    )
