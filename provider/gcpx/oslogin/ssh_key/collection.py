"""The SSH public keys of one user, as OS Login's API serves them."""

from __future__ import annotations

from typing import Any

import attrs

from gcpx.errors import MalformedResponse
from gcpx.gcp.apis import OSLOGIN
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import NotFound
from gcpx.gcp.request import Request, segment
from gcpx.model.call import Call


@attrs.frozen(kw_only=True)
class SshPublicKeys:
    """The collection `users/USER/sshPublicKeys`, for one call of the engine. Keys are Google's JSON.

    Attributes:
        user: an e-mail address or an account ID, without `users/`.
    """

    google: GoogleClient
    call: Call
    user: str

    def id_of(self, fingerprint: str) -> str:
        """Return the resource ID of a key."""
        return f"users/{self.user}/sshPublicKeys/{fingerprint}"

    def fingerprints(self) -> list[str]:
        """Read the fingerprints of all keys, which are in the user's login profile."""
        keys = self._send("GET", f"{self._owner}/loginProfile").get("sshPublicKeys", {})
        if not isinstance(keys, dict):
            raise MalformedResponse(
                f"Google's login profile of {self.user} has keys in another form than its API promises"
            )
        return sorted(keys)

    def read(self, fingerprint: str) -> dict[str, Any] | None:
        """Read a key; None if it does not exist.

        Raises MalformedResponse for a response without a key, which does not say that it is gone.
        """
        try:
            found = self._send("GET", self._path_of(fingerprint))
        except NotFound:
            return None
        if not found.get("key") or found.get("fingerprint") != fingerprint:
            raise MalformedResponse(
                f"Google's response for {self.id_of(fingerprint)} is not about it, or contains no key"
            )
        return found

    def create(self, body: dict[str, Any]) -> None:
        """Create a key; raises Conflict if the user has it already."""
        self._send("POST", f"{self._owner}/sshPublicKeys", body=body)

    def import_key(self, body: dict[str, Any], project: str, regions: list[str] | None) -> None:
        """Create or update a key, and set up the user's POSIX account in a project."""
        query = {"projectId": project, "regions": regions}
        self._send("POST", f"{self._owner}:importSshPublicKey", query, body)

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
    def _owner(self) -> str:
        return f"users/{segment(self.user)}"

    def _path_of(self, fingerprint: str) -> str:
        return f"{self._owner}/sshPublicKeys/{segment(fingerprint)}"

    def _send(
        self, method: str, path: str, query: dict[str, Any] | None = None, body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        request = Request(api=OSLOGIN, method=method, path=f"v1alpha/{path}", query=query or {}, body=body)
        return self.google.send(request, self.call)
