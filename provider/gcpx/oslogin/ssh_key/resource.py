"""SshKey: an SSH public key in a user's OS Login profile.

Source: OS Login REST reference, `users.sshPublicKeys` and `users.importSshPublicKey`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Final

from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import Conflict, PermissionDenied
from gcpx.gcp.lookups import Lookups
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.gcp.partial_state import keeping_state
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.import_command import how_to_manage
from gcpx.model.links import path_of
from gcpx.model.resource import InvalidId, ListedResource, Live, Page, PartialError, Resource
from gcpx.model.rules import Violation, text
from gcpx.oslogin.ssh_key.collection import SshPublicKeys
from gcpx.oslogin.ssh_key.declaration import SshKeyModel, SshKeyQuery, without_users_prefix
from gcpx.oslogin.ssh_key.public_key import fingerprint, without_comment

_PAUSES: Final = (0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
"""Seconds between attempts to read a new key, which Google may return with a delay."""
_POSIX_ACCOUNT_INPUTS: Final = ("projectId", "regions")
"""The inputs that set up a POSIX account; Google does not return them with the key."""


class SshKey(Resource):
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

    def unique_key(self, inputs: dict[str, Any]) -> Any:
        """Tell keys apart by user and key, because a profile holds a key once."""
        return (without_users_prefix(inputs.get("user")), without_comment(inputs.get("key")))

    def check_online(self, call: Call, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Violation]:
        """Check that the project and the regions exist."""
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
        """Return fingerprint and name, which follow from key and user."""
        if not isinstance(inputs.get("key"), str) or not isinstance(inputs.get("user"), str):
            return {}
        found = fingerprint(inputs["key"])
        return {"fingerprint": found, "name": f"users/{without_users_prefix(inputs['user'])}/sshPublicKeys/{found}"}

    def create(self, call: Call, inputs: dict[str, Any]) -> Live:
        """Create the key, and wait until it can be read; refuse one that exists, because it may be another stack's."""
        keys, key_id = self._keys(call, inputs["user"]), fingerprint(inputs["key"])
        if keys.read(key_id) is not None:
            raise _already_exists(keys, key_id)
        with keeping_state(lambda _: _unread(keys, key_id, inputs)) as creation:
            try:
                self._add(keys, inputs)
            except Conflict as error:
                if not error.is_repeated:
                    raise _already_exists(keys, key_id) from error
                # The key was not there before, so a request whose response was lost has created it.
                call.progress(f"{keys.id_of(key_id)} was created by a request without a response")
            except PermissionDenied as error:
                hint = f"Only {keys.user} can manage keys of {keys.user}: use its credentials, or set gcpx:impersonateServiceAccount."
                raise error.with_hint(hint) from error
            creation.created()
            return self._wait_until_readable(keys, key_id, inputs)

    def read(self, call: Call, resource_id: str, inputs: dict[str, Any] | None) -> Live | None:
        """Read the key of an ID."""
        user, key_id = self._parse(resource_id)
        return self._read(self._keys(call, user), key_id, inputs or {})

    def update(self, call: Call, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> Live:
        """Set or remove the expiration; for another project or other regions, import the key again."""
        user, key_id = self._parse(resource_id)
        keys = self._keys(call, user)
        if any(old.get(name) != new.get(name) for name in _POSIX_ACCOUNT_INPUTS) and new.get("projectId"):
            self._add(keys, new)
        keys.set_expiration(key_id, new.get("expirationTimeUsec"))
        return self._wait_until_readable(keys, key_id, new)

    def delete(self, call: Call, resource_id: str) -> None:
        """Delete the key of an ID."""
        user, key_id = self._parse(resource_id)
        self._keys(call, user).delete(key_id)

    def page(self, call: Call, query: dict[str, Any], token: str, size: int) -> Page:
        """List a user's keys, which Google gives all at once."""
        del token, size
        keys = self._keys(call, query["user"])
        return Page([ListedResource(keys.id_of(key_id), key_id) for key_id in keys.fingerprints()])

    def _keys(self, call: Call, user: str) -> SshPublicKeys:
        return SshPublicKeys(google=self._google, call=call, user=without_users_prefix(user))

    def _add(self, keys: SshPublicKeys, inputs: dict[str, Any]) -> None:
        body = codec.to_body(self.type, inputs)
        if inputs.get("projectId"):
            keys.import_key(body, inputs["projectId"], inputs.get("regions"))
        else:
            keys.create(body)

    def _wait_until_readable(self, keys: SshPublicKeys, key_id: str, inputs: dict[str, Any]) -> Live:
        for pause in _PAUSES:
            live = self._read(keys, key_id, inputs)
            if live is not None:
                return live
            keys.call.progress("waiting until Google returns the key")
            if keys.call.cancelled.wait(pause):
                break
        words = f"{keys.id_of(key_id)} was created but cannot be read yet; run `pulumi up` again"
        raise PartialError(_unread(keys, key_id, inputs), words)

    def _read(self, keys: SshPublicKeys, key_id: str, inputs: dict[str, Any]) -> Live | None:
        found = keys.read(key_id)
        if found is None:
            return None
        account = {name: inputs[name] for name in _POSIX_ACCOUNT_INPUTS if inputs.get(name) is not None}
        return Live(keys.id_of(key_id), {**codec.from_body(self.type, found), "user": keys.user, **account})

    def _parse(self, resource_id: str) -> tuple[str, str]:
        """Return user and fingerprint."""
        path = re.sub(r"^v1(?:alpha|beta)?/", "", path_of(resource_id))
        found = re.fullmatch(r"(?:users/)?([^/]+)/(?:sshPublicKeys/)?([^/]+)/?", path)
        if found is None:
            raise InvalidId(self.token, resource_id, self.id_forms)
        return found[1], found[2]


def _already_exists(keys: SshPublicKeys, key_id: str) -> Conflict:
    resource_id = keys.id_of(key_id)
    return Conflict(
        f"{resource_id} exists already and was not created by this resource. "
        f"{how_to_manage(keys.call, resource_id, 'remove this resource from the program')}",
        status=409,
    )


def _unread(keys: SshPublicKeys, key_id: str, inputs: dict[str, Any]) -> Live:
    """Describe a key that was created, and not read yet."""
    return Live.unread(keys.id_of(key_id), {**inputs, "fingerprint": key_id, "name": keys.id_of(key_id)})
