"""SshKey: an SSH public key in a user's OS Login profile.

Source: OS Login REST reference, `users.sshPublicKeys` and `users.importSshPublicKey`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from gcpx.errors import MalformedResponse
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.creation import create_by_name, keeping_state
from gcpx.gcp.errors import NotFound, PermissionDenied
from gcpx.gcp.in_project import Lookups
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.gcp.request import OSLOGIN, Request, segment
from gcpx.gcp.shared_reads import Scope
from gcpx.model import codec
from gcpx.model.context import Context
from gcpx.model.fields import Failure, Record, chosen, field, object_type, output_field, record, requirement, rule, text
from gcpx.model.links import name_of, path_of
from gcpx.model.numbers import as_integer
from gcpx.model.patterns import PROJECT, REGION, SEGMENT, Form
from gcpx.model.resource import InvalidId, ListedResource, Page, PartialError, Resource, State, gone
from gcpx.model.times import RFC_3339, in_microseconds

if TYPE_CHECKING:
    from gcpx.oslogin.value_types import SshKeyQueryValues, SshKeyValues


def parse_public_key(key: str) -> bytes:
    """Return the decoded data of a public key; raise ValueError with the requirement if it is malformed."""
    if "PRIVATE KEY" in key or key.startswith("PuTTY-User-Key-File"):
        raise ValueError("must be the public key, the content of the .pub file; this is the private one")
    if len(key.strip().splitlines()) > 1:
        raise ValueError("must be one key on one line: write a resource for each key")
    parts = key.split()
    if len(parts) < 2:  # noqa: PLR2004 - type and data
        raise ValueError("must be an SSH public key, written `TYPE BASE64 [COMMENT]`")
    try:
        data = base64.b64decode(parts[1], validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("must have valid base64 after its type: `TYPE BASE64 [COMMENT]`") from None
    length = int.from_bytes(data[:4], "big")
    kind = data[4 : 4 + length].decode("ascii", "replace")
    if parts[0].endswith(f":{kind}"):  # `USER:TYPE BASE64`, as in the metadata `ssh-keys`
        raise ValueError(f"must begin with {kind}: leave out the user name and the colon before it")
    if kind != parts[0]:
        raise ValueError("must begin with the type of its data; the data has a different type")
    return data


def fingerprint(key: str) -> str:
    """Return the SHA-256 hash of a valid public key in hexadecimal, by which OS Login identifies it."""
    return hashlib.sha256(parse_public_key(key)).hexdigest()


def without_comment(key: Any) -> Any:
    """Reduce a public key to its data, which is equal for keys that differ in comment and spacing only.

    Any other value is returned unchanged.
    """
    try:
        return parse_public_key(str(key))
    except ValueError:
        return key


_USER = Form(
    rf"(?:users/)?(?![A-Za-z]+:){SEGMENT}",
    "an e-mail address or account ID, also as users/USER, without the prefix of an IAM member",
)
_EARLIEST_EXPIRATION: Final = 10**15
"""September 2001 in microseconds, long before OS Login."""
_OTHER_UNITS: Final = (
    (10**9, "seconds, so add six zeros"),
    (10**12, "milliseconds, so add three zeros"),
    (10**18, "nanoseconds, so leave out the last three digits"),
)
"""September 2001 in units that are used by mistake, with what to do; for the next ninety years, numbers have as many digits."""
_LATEST_EXPIRATION: Final = (1 << 63) - 1
_REST: Final = "https://cloud.google.com/compute/docs/oslogin/rest/v1"
_SSH_PUBLIC_KEY: Final = f"[SshPublicKey: {{}}]({_REST}/users.sshPublicKeys)"
_IMPORT: Final = f"[users.importSshPublicKey: {{}}]({_REST}/users/importSshPublicKey)"
_PARENT: Final = f"[users.sshPublicKeys.create: parent]({_REST}/users.sshPublicKeys/create)"


def without_users_prefix(user: Any) -> str:
    """Reduce `users/USER` to `USER`."""
    return str(user).removeprefix("users/")


@rule("key", "must be an SSH public key, TYPE BASE64 [COMMENT], with data of that type", _SSH_PUBLIC_KEY.format("key"))
def _key_is_an_ssh_public_key(values: SshKeyValues) -> list[Failure]:
    key = values.get("key")
    if not isinstance(key, str):
        return []
    try:
        parse_public_key(key)
    except ValueError as error:
        return [Failure("key", str(error))]
    return []


@rule(
    "expirationTimeUsec",
    "must be in microseconds, not in another unit, and fit 64 bits; a time before September 2001 is refused",
    _SSH_PUBLIC_KEY.format("expirationTimeUsec"),
)
def _expiration_time_is_in_microseconds(values: SshKeyValues) -> list[Failure]:
    written = text(values, "expirationTimeUsec")
    given, is_time = as_integer(in_microseconds(written)), re.fullmatch(RFC_3339, written) is not None
    if given is None:
        return [Failure("expirationTimeUsec", "must be a time that exists")] if is_time else []
    if given > _LATEST_EXPIRATION:
        words = f"must be at most {_LATEST_EXPIRATION}; leave it out for a key that never expires"
        return [Failure("expirationTimeUsec", words)]
    unit = next((unit for start, unit in _OTHER_UNITS if not is_time and start <= given < 4 * start), "")
    if unit:
        return [Failure("expirationTimeUsec", f"must be in microseconds; this value seems to be in {unit}")]
    if given >= _EARLIEST_EXPIRATION or (given <= 0 and not is_time):  # the number 0 means never
        return []
    return [Failure("expirationTimeUsec", "must be in microseconds, and not before September 2001")]


@requirement(
    "regions", "requires projectId, the project in which the POSIX account is set up", _IMPORT.format("regions")
)
def _regions_require_a_project(values: SshKeyValues) -> bool:
    return not values.get("regions") or values.get("projectId") is not None


@record
class SshKeyModel(Record):
    """An SSH public key in a user's OS Login profile.

    Users manage their own keys, so the credentials must be the user's.

    To manage the keys of a service account, set the provider's `impersonateServiceAccount`. A profile holds a key only
    once, so two stacks should not manage the same one.
    """

    RULES = (_key_is_an_ssh_public_key, _expiration_time_is_in_microseconds, _regions_require_a_project)

    expiration_time_usec: str = field(
        "The time at which the key expires, in microseconds since 1970, such as `1924991999000000`, or in RFC 3339 format, such as `2030-12-31T23:59:59Z`. Default: never. Changes in place.",
        pattern=Form(
            rf"[0-9]{{1,19}}|{RFC_3339}",
            "microseconds since 1970 as digits, or a time in RFC 3339 format, such as 2030-12-31T23:59:59Z",
        ),
        resolve=in_microseconds,
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


_LAG: Final = 12.6
"""The time for which Google may not return a new key yet, in seconds."""
_POSIX_ACCOUNT_INPUTS: Final = ("projectId", "regions")
"""The inputs that set up a POSIX account; Google does not return them with the key."""


@attrs.frozen(kw_only=True)
class SshPublicKeys:
    """The collection `users/USER/sshPublicKeys`, for one call of the engine. Keys are Google's JSON.

    Attributes:
        user: an e-mail address or an account ID, without `users/`.
    """

    google: GoogleClient
    context: Context
    user: str

    def id_of(self, fingerprint: str) -> str:
        """Return the resource ID of a key."""
        return f"users/{self.user}/sshPublicKeys/{fingerprint}"

    def fingerprints(self) -> list[str]:
        """Read the fingerprints of all keys, which are in the user's login profile."""
        return sorted(self._profile())

    def read(self, fingerprint: str) -> dict[str, Any] | None:
        """Read a key; None if it does not exist.

        Raises MalformedResponse for a response without a key, which does not prove that it is gone.
        """
        found = self.google.reads.read(self.context, self._shared, fingerprint)
        if found is None:
            return None
        if not found.get("key") or found.get("fingerprint") != fingerprint:
            raise MalformedResponse(
                f"Google's response for {self.id_of(fingerprint)} is not about it, or contains no key"
            )
        return found

    def state(self, fingerprint: str, inputs: SshKeyValues) -> State | None:
        """Read a key as a resource; None if it does not exist. `inputs` supply the properties that Google does not return."""
        found = self.read(fingerprint)
        if found is None:
            return None
        properties = codec.from_body(object_type(SshKeyModel), found)
        account = chosen(inputs, _POSIX_ACCOUNT_INPUTS)
        return State(self.id_of(fingerprint), {**properties, "user": self.user, **account})

    def state_once_readable(self, fingerprint: str, inputs: SshKeyValues) -> State:
        """Wait until Google returns a new key; raise PartialError if it does not for a while."""
        for _ in self.context.tries(_LAG, pause=0.2):
            state = self.state(fingerprint, inputs)
            if state is not None:
                return state
            self.context.progress("waiting until Google returns the key")
        words = f"{self.id_of(fingerprint)} was created but cannot be read yet; run `pulumi up` again"
        raise PartialError(self.unread(fingerprint, inputs), words)

    def unread(self, fingerprint: str, inputs: SshKeyValues) -> State:
        """Describe a key that was created, but not read yet."""
        key_id = self.id_of(fingerprint)
        return State.unread(key_id, {**inputs, "fingerprint": fingerprint, "name": key_id})

    def add(self, inputs: SshKeyValues) -> None:
        """Create a key; raises Conflict if the user has it already.

        With a project, create or update it, and set up the user's POSIX account in the project.
        """
        body = codec.to_body(object_type(SshKeyModel), inputs)
        if inputs.get("projectId"):
            query = {"projectId": inputs["projectId"], "regions": inputs.get("regions")}
            self._send("POST", f"{self._owner}:importSshPublicKey", query, body)
        else:
            self._send("POST", f"{self._owner}/sshPublicKeys", body=body)

    def set_expiration(self, fingerprint: str, expiration: str | None) -> None:
        """Change when a key expires; None means never."""
        body = {"expirationTimeUsec": expiration} if expiration else {}
        self._send("PATCH", self._path_of(fingerprint), {"updateMask": "expirationTimeUsec"}, body)

    def delete(self, fingerprint: str) -> None:
        """Delete a key; a key that does not exist is a success."""
        try:
            self._send("DELETE", self._path_of(fingerprint))
        except NotFound:
            if self.read(fingerprint) is not None:
                raise

    @property
    def _shared(self) -> Scope:
        """The scope of shared reads of the user's keys, by the login profile."""
        return Scope(
            place=f"{self._owner}/sshPublicKeys",
            kind="users",
            get=lambda fingerprint: self._send("GET", self._path_of(fingerprint)),
            page=lambda _: (self._profile(), ""),
        )

    def _profile(self) -> dict[str, dict[str, Any]]:
        """Read all keys, by their fingerprints, from the user's login profile."""
        keys = self._send("GET", f"{self._owner}/loginProfile").get("sshPublicKeys", {})
        if not isinstance(keys, dict):
            raise MalformedResponse(
                f"Google's login profile of {self.user} has keys in a different form than its API promises"
            )
        return keys

    @property
    def _owner(self) -> str:
        return f"users/{segment(self.user)}"

    def _path_of(self, fingerprint: str) -> str:
        return f"{self._owner}/sshPublicKeys/{segment(fingerprint)}"

    def _send(
        self, method: str, path: str, query: dict[str, Any] | None = None, body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        request = Request(api=OSLOGIN, method=method, path=f"v1alpha/{path}", query=query or {}, body=body)
        return self.google.send(request, self.context)


class SshKey(Resource["SshKeyValues"]):
    """Keys by fingerprint in `users/USER/sshPublicKeys`."""

    token = "gcpx:oslogin:SshKey"
    model = SshKeyModel
    query = SshKeyQuery
    in_place = frozenset({("expirationTimeUsec",), ("projectId",), ("regions",)})
    id_forms = (
        "users/USER/sshPublicKeys/FINGERPRINT",
        "USER/sshPublicKeys/FINGERPRINT",
        "users/USER/FINGERPRINT",
        "USER/FINGERPRINT",
        "a self link",
    )

    def __init__(self, google: GoogleClient, lookups: Lookups) -> None:
        self._google = google
        self._lookups = lookups

    def unique_key(self, inputs: SshKeyValues) -> Any:
        """Return user and key, because a profile has each key once."""
        return (without_users_prefix(inputs.get("user")), without_comment(inputs.get("key")))

    def creation_failures(self, inputs: SshKeyValues) -> list[Failure]:
        """Refuse a key that has expired."""
        expiration = as_integer(in_microseconds(text(inputs, "expirationTimeUsec")))
        is_over = expiration is not None and _EARLIEST_EXPIRATION <= expiration <= time.time() * 1e6
        words = "must be in the future: a key with this time has expired"
        return [Failure("expirationTimeUsec", words)] if is_over else []

    def check_online(self, context: Context, olds: SshKeyValues, inputs: SshKeyValues) -> list[Failure]:
        """Check that the project and the regions exist."""
        del olds
        project = text(inputs, "projectId") or None
        checks = OnlineChecks(self._lookups, context, project, project_path=("projectId",))
        regions = inputs.get("regions")
        names = [*enumerate(regions)] if isinstance(regions, list) else []
        every = [
            partial(checks.check_region, name, ("regions", index)) for index, name in names if isinstance(name, str)
        ]
        return checks.run(inputs, every)

    def predict(self, inputs: SshKeyValues) -> dict[str, Any]:
        """Predict fingerprint and name, which follow from key and user."""
        if not isinstance(inputs.get("key"), str) or not isinstance(inputs.get("user"), str):
            return {}
        found = fingerprint(inputs["key"])
        return {"fingerprint": found, "name": f"users/{without_users_prefix(inputs['user'])}/sshPublicKeys/{found}"}

    def create(self, context: Context, inputs: SshKeyValues) -> State:
        """Create the key, and wait until it can be read; refuse one that exists, because it may be another stack's."""
        keys, key_id = self._keys(context, inputs["user"]), fingerprint(inputs["key"])
        unread = keys.unread(key_id, inputs)

        def send() -> dict[str, Any]:
            try:
                keys.add(inputs)
            except PermissionDenied as error:
                hint = (
                    f"Only {keys.user} can manage keys of {keys.user}: use its credentials, or set "
                    "gcpx:impersonateServiceAccount."
                )
                raise error.with_next_step(hint) from error
            return {}

        def is_as_written() -> bool:
            found = keys.read(key_id)
            expiration = (found or {}).get("expirationTimeUsec") or "0"
            return found is None or int(expiration) == int(inputs.get("expirationTimeUsec") or "0")

        with keeping_state(context, lambda _: unread) as progress:
            made = create_by_name(
                context, unread.id, send=send, exists=lambda: keys.read(key_id) is not None, is_as_written=is_as_written
            )
            progress.created(made)
            return keys.state_once_readable(key_id, inputs)

    def read(self, context: Context, resource_id: str, inputs: SshKeyValues | None) -> State | None:
        """Read the key with an ID."""
        user, key_id = self._parse(resource_id)
        return self._keys(context, user).state(key_id, inputs or {})

    def update(self, context: Context, resource_id: str, old: SshKeyValues, new: SshKeyValues) -> State:
        """Set or remove the expiration; for another project or other regions, import the key again."""
        user, key_id = self._parse(resource_id)
        keys = self._keys(context, user)
        if chosen(old, _POSIX_ACCOUNT_INPUTS) != chosen(new, _POSIX_ACCOUNT_INPUTS) and new.get("projectId"):
            keys.add(new)
        try:
            keys.set_expiration(key_id, new.get("expirationTimeUsec"))
        except NotFound as error:
            if keys.read(key_id) is not None:
                raise
            raise gone(resource_id) from error
        return keys.state_once_readable(key_id, new)

    def delete(self, context: Context, resource_id: str) -> None:
        """Delete the key with an ID."""
        user, key_id = self._parse(resource_id)
        self._keys(context, user).delete(key_id)

    def page(self, context: Context, query: dict[str, Any], token: str, size: int) -> Page:
        """List a user's keys, on a single page."""
        del token, size
        keys = self._keys(context, cast("SshKeyQueryValues", query)["user"])
        return Page([ListedResource(keys.id_of(key_id), key_id) for key_id in keys.fingerprints()])

    def _keys(self, context: Context, user: str) -> SshPublicKeys:
        return SshPublicKeys(google=self._google, context=context, user=without_users_prefix(user))

    def _parse(self, resource_id: str) -> tuple[str, str]:
        """Return user and fingerprint."""
        path = re.sub(r"^v1(?:alpha|beta)?/", "", path_of(resource_id))
        found = re.fullmatch(r"(?:users/)?([^/]+)/(?:sshPublicKeys/)?([^/]+)/?", path)
        if found is None:
            raise InvalidId(self.token, resource_id, self.id_forms)
        return found[1], found[2]
