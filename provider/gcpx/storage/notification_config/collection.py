"""The notification configurations of one bucket, as Cloud Storage's API serves them."""

from __future__ import annotations

from typing import Any

import attrs

from gcpx.errors import MalformedResponse
from gcpx.gcp.apis import STORAGE
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import NotFound
from gcpx.gcp.list_method import items_of
from gcpx.gcp.request import Request, segment
from gcpx.model.call import Call


@attrs.frozen(kw_only=True)
class NotificationConfigs:
    """The collection `b/BUCKET/notificationConfigs`, for one call of the engine. Configurations are Google's JSON.

    Attributes:
        user_project: the project to bill for the calls; None for a bucket without Requester Pays.
    """

    google: GoogleClient
    call: Call
    bucket: str
    user_project: str | None

    @property
    def path(self) -> str:
        """The path of the collection, with the version."""
        return f"v1/b/{segment(self.bucket)}/notificationConfigs"

    def id_of(self, number: str) -> str:
        """Return the resource ID of the configuration to which Google gave an ID."""
        return f"{self.bucket}/notificationConfigs/{number}"

    def read_all(self) -> list[dict[str, Any]]:
        """Read all configurations."""
        items = items_of(self._send("GET", self.path))
        if not all(isinstance(item.get("id"), str) and item["id"] for item in items):
            raise MalformedResponse(f"Google's list of {self.path} has a configuration without an id")
        return items

    def read(self, number: str) -> dict[str, Any] | None:
        """Read a configuration; None if it does not exist.

        Raises MalformedResponse for a response without its ID, which does not say that it is gone, or without a topic.
        """
        try:
            found = self._send("GET", self._path_of(number))
        except NotFound:
            return None
        if str(found.get("id")) != number:
            raise MalformedResponse(f"Google's response for {self.id_of(number)} is not about it: it holds no such id")
        if not isinstance(found.get("topic"), str) or not found["topic"]:
            raise MalformedResponse(
                f"Google's response for {self.id_of(number)} does not say to which topic it publishes"
            )
        return found

    def insert(self, body: dict[str, Any]) -> dict[str, Any]:
        """Create a configuration. The client sends the request once, because every insertion creates one more.

        After a lost response, `Insertion.run` sends it again only if the list shows that nothing was created.
        """
        return self._send("POST", self.path, body)

    def delete(self, number: str) -> None:
        """Delete a configuration; one that does not exist is a success."""
        try:
            self._send("DELETE", self._path_of(number))
        except NotFound:
            if self.read(number) is not None:
                raise

    def _path_of(self, number: str) -> str:
        return f"{self.path}/{segment(number)}"

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        query = {"userProject": self.user_project}
        request = Request(api=STORAGE, method=method, path=path, query=query, body=body, idempotent=method != "POST")
        return self.google.send(request, self.call)
