"""SshKey: an SSH public key in a user's OS Login profile. Its expiry changes in place.

Source: OS Login API, `users.sshPublicKeys`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from functools import partial
from typing import Any, Final

import attrs

from gcpx.gcp.client import OSLOGIN, Google, Request, segment
from gcpx.gcp.errors import Conflict, NotFound, PermissionDenied, ServerError
from gcpx.gcp.lookups import Lookups
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.gcp.partial_state import keeping_state
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.fields import Record, field, record
from gcpx.model.links import name_of, path_of
from gcpx.model.places import PROJECT, REGION
from gcpx.model.resource import Found, InvalidId, Live, Page, PartialError, Resource
from gcpx.model.rules import Failure, rule, text

_PAUSES: Final = (0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
"""Seconds between looks for a new key: Google shows it with a delay, most often none."""
_USER = (re.compile(r"(?:users/)?[^/\s?#%]+"), "an e-mail address or account ID, also as users/USER")


def public_blob(key: str) -> bytes:
    """Decode an OpenSSH public key; ValueError says what is wrong with it."""
    if "PRIVATE KEY" in key or key.startswith("PuTTY-User-Key-File"):
        raise ValueError("must be the public key, the content of the .pub file; this is the private one")
    parts = key.split()
    if len(parts) < 2:  # noqa: PLR2004 - type and data
        raise ValueError("must be an SSH public key, written `TYPE BASE64 [COMMENT]`")
    try:
        blob = base64.b64decode(parts[1], validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("must have valid base64 after its type: `TYPE BASE64 [COMMENT]`") from None
    length = int.from_bytes(blob[:4], "big")
    if blob[4 : 4 + length].decode("ascii", "replace") != parts[0]:
        raise ValueError("must begin with the type of its data; the data has a different type")
    return blob


def _canonical(key: Any) -> Any:
    """Reduce a key to what it is: neither comment nor spacing counts."""
    try:
        return public_blob(str(key))
    except ValueError:
        return key


@rule("key is an SSH public key, TYPE BASE64 [COMMENT], and its data has that type", "OS Login, when the key is made")
def _valid_key(values: dict[str, Any]) -> list[Failure]:
    key = values.get("key")
    if not isinstance(key, str):
        return []
    try:
        public_blob(key)
    except ValueError as error:
        return [("key", str(error))]
    return []


_EARLIEST: Final = 10**15
"""Microseconds: September 2001, long before OS Login; what is less counts seconds or milliseconds."""


@rule("expirationTimeUsec is in microseconds, so it is not in the years 1970 to 2001", "OS Login's description")
def _expires_after_1970(values: dict[str, Any]) -> list[Failure]:
    given = values.get("expirationTimeUsec")
    number = int(given) if isinstance(given, str) and given.isdecimal() else 0
    if not 0 < number < _EARLIEST:
        return []
    return [
        ("expirationTimeUsec", "must be in microseconds; this value is before 2001. To convert seconds, add six zeros")
    ]


@rule("regions needs projectId", "OS Login's description")
def _regions_need_a_project(values: dict[str, Any]) -> list[Failure]:
    if values.get("regions") and values.get("projectId") is None:
        return [("regions", "needs projectId: regions are where that project's POSIX account is written first")]
    return []


@record
class SshKeyModel(Record):
    """An SSH public key in a user's OS Login profile.

    The user is whom the credentials stand for: another user's or service account's key needs
    `impersonateServiceAccount`. A key belongs to a profile once, so two stacks should not manage the same one.
    """

    RULES = (_valid_key, _expires_after_1970, _regions_need_a_project)

    expiration_time_usec: str = field(
        "When the key expires, in microseconds since 1970. Default: never. Changes in place.",
        pattern=(re.compile(r"\d{1,19}"), "microseconds since 1970 as digits"),
        normalize=lambda text: str(text).lstrip("0"),
        default="0",
    )
    fingerprint: str = field("The key's SHA-256 hash, in hexadecimal.", output=True, always=True)
    key: str = field(
        "The public key in OpenSSH form: `TYPE BASE64 [COMMENT]`. A different comment or spacing is not a change.",
        required=True,
        normalize=_canonical,
    )
    name: str = field("The key's full name: `users/U/sshPublicKeys/FINGERPRINT`.", output=True, always=True)
    project_id: str = field(
        "The project whose POSIX account to set up along with the key; service accounts need it.",
        param=True,
        pattern=PROJECT,
    )
    regions: list[str] = field(
        "The regions in which the key must be available first, with `projectId`.",
        param=True,
        identity="set",
        pattern=REGION,
        normalize=name_of,
    )
    user: str = field(
        "The user: an e-mail address or unique ID.",
        required=True,
        param=True,
        pattern=_USER,
        normalize=lambda user: str(user).removeprefix("users/"),
    )


@record
class SshKeyQuery(Record):
    """Whose keys to list."""

    user: str = field("The user: an e-mail address or unique ID.", required=True, pattern=_USER)


@attrs.frozen
class _Address:
    user: str
    fingerprint: str

    @property
    def id(self) -> str:
        return f"users/{self.user}/sshPublicKeys/{self.fingerprint}"

    @property
    def owner(self) -> str:
        return f"users/{segment(self.user)}"

    @property
    def path(self) -> str:
        return f"{self.owner}/sshPublicKeys/{segment(self.fingerprint)}"


class SshKey(Resource):
    """Keys by fingerprint in `users/USER/sshPublicKeys`."""

    token = "gcpx:oslogin:SshKey"
    model = SshKeyModel
    query = SshKeyQuery
    in_place = frozenset({("expirationTimeUsec",), ("projectId",), ("regions",)})
    id_forms = ("users/USER/sshPublicKeys/FINGERPRINT", "USER/FINGERPRINT")

    def __init__(self, google: Google, lookups: Lookups) -> None:
        self._google = google
        self._lookups = lookups

    def identity(self, inputs: dict[str, Any]) -> Any:
        """Tell keys apart by user and key: a profile holds a key once."""
        return (str(inputs.get("user")).removeprefix("users/"), _canonical(inputs.get("key")))

    def check_online(self, call: Call, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Failure]:
        """Look up the project and the regions that the key is to be known in."""
        del olds
        checks = OnlineChecks(self._lookups, call, text(inputs, "projectId") or None)
        regions = inputs.get("regions")
        names = [*enumerate(regions)] if isinstance(regions, list) else []
        every = [
            partial(checks.check_region, name, ("regions", index)) for index, name in names if isinstance(name, str)
        ]
        failures = checks.run(inputs, every)
        return [("projectId" if path == "project" else path, reason) for path, reason in failures]

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Fingerprint and name follow from the key."""
        if not isinstance(inputs.get("key"), str) or not isinstance(inputs.get("user"), str):
            return {}
        address = self._address(inputs)
        return {"fingerprint": address.fingerprint, "name": address.id}

    def create(self, call: Call, inputs: dict[str, Any]) -> Live:
        """Create, and wait until the key can be read."""
        address = self._address(inputs)
        try:
            self._add(call, address, inputs)
        except Conflict as error:
            self._adopt(call, address, inputs, error)
        except PermissionDenied as error:
            hint = f"Only {address.user} can manage keys of {address.user}: set gcpx:impersonateServiceAccount."
            raise PermissionDenied(f"{error} {hint}", status=error.status, reason=error.reason) from error
        with keeping_state(lambda _: _unread(address, inputs)) as creation:
            creation.created()
            return self._settled(call, address, inputs)

    def read(self, call: Call, resource_id: str, inputs: dict[str, Any] | None) -> Live | None:
        """Get by fingerprint."""
        address = self._parse(resource_id)
        try:
            found = self._send(call, "GET", address.path)
        except NotFound:
            return None
        if not found.get("key"):
            raise ServerError(f"Google's response for {address.id} contains no key")
        given = {name: inputs[name] for name in ("projectId", "regions") if inputs and inputs.get(name) is not None}
        return Live(address.id, {**codec.from_body(self.type, found), "user": address.user, **given})

    def update(self, call: Call, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> Live:
        """Set or clear the expiry; a new project or region takes another import of the key."""
        address = self._parse(resource_id)
        if any(old.get(name) != new.get(name) for name in ("projectId", "regions")) and new.get("projectId"):
            self._add(call, address, new)
        expiry = new.get("expirationTimeUsec")
        self._send(
            call,
            "PATCH",
            address.path,
            {"updateMask": "expirationTimeUsec"},
            {"expirationTimeUsec": expiry} if expiry else {},
        )
        return self._settled(call, address, new)

    def delete(self, call: Call, resource_id: str) -> None:
        """Delete by fingerprint."""
        try:
            self._send(call, "DELETE", self._parse(resource_id).path)
        except NotFound:
            return

    def page(self, call: Call, query: dict[str, Any], token: str, size: int) -> Page:
        """List a user's keys, which come with the login profile, all at once."""
        del token, size
        user = query["user"].removeprefix("users/")
        keys = self._send(call, "GET", f"users/{segment(user)}/loginProfile").get("sshPublicKeys", {})
        return Page([Found(_Address(user, fingerprint).id, fingerprint) for fingerprint in sorted(keys)])

    def _add(self, call: Call, address: _Address, inputs: dict[str, Any]) -> None:
        body = codec.to_body(self.type, inputs)
        if inputs.get("projectId"):
            query = {"projectId": inputs["projectId"], "regions": inputs.get("regions")}
            self._send(call, "POST", f"{address.owner}:importSshPublicKey", query, body)
        else:
            self._send(call, "POST", f"{address.owner}/sshPublicKeys", {}, body)

    def _adopt(self, call: Call, address: _Address, inputs: dict[str, Any], error: Conflict) -> None:
        """Take a key that is already there, when it is just what is wanted: a lost answer leaves one."""
        found = self._send(call, "GET", address.path)
        if found.get("expirationTimeUsec", "0") != inputs.get("expirationTimeUsec", "0"):
            raise Conflict(
                f"{address.id} exists with another expirationTimeUsec; to manage it: pulumi import {self.token} NAME {address.id}",
                status=error.status,
                reason=error.reason,
            ) from error

    def _settled(self, call: Call, address: _Address, inputs: dict[str, Any]) -> Live:
        for pause in _PAUSES:
            live = self.read(call, address.id, inputs)
            if live is not None:
                return live
            call.progress("waiting until Google returns the key")
            if call.cancelled.wait(pause):
                break
        words = f"{address.id} was created but cannot be read yet; run `pulumi up` again"
        raise PartialError(_unread(address, inputs), words)

    def _send(
        self,
        call: Call,
        method: str,
        path: str,
        query: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        request = Request(api=OSLOGIN, method=method, path=f"v1alpha/{path}", query=query or {}, body=body)
        return self._google.send(request, call)

    def _address(self, inputs: dict[str, Any]) -> _Address:
        user = inputs["user"].removeprefix("users/")
        return _Address(user, hashlib.sha256(public_blob(inputs["key"])).hexdigest())

    def _parse(self, resource_id: str) -> _Address:
        path = re.sub(r"^v1(?:alpha|beta)?/", "", path_of(resource_id))
        found = re.fullmatch(r"(?:users/)?([^/]+)/(?:sshPublicKeys/)?([^/]+)/?", path)
        if found is None:
            raise InvalidId(self.token, resource_id, self.id_forms)
        return _Address(found[1], found[2])


def _unread(address: _Address, inputs: dict[str, Any]) -> Live:
    """Describe a key that was made and not read."""
    return Live.unread(address.id, {**inputs, "fingerprint": address.fingerprint, "name": address.id})
