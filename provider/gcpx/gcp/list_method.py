"""The list methods of the APIs, page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from gcpx.gcp.apis import COMPUTE, Api
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.request import Request
from gcpx.model.call import Call

PAGE: Final = 500
"""The largest page of Compute's list methods."""


@attrs.frozen(kw_only=True)
class ListMethod:
    """A call of a list method.

    Attributes:
        path: the path below the API's own, with the version: `v1/projects/p/zones`.
        query: the query parameters, without page size and page token.
        patience: the number of seconds in which the request for a page may be retried.
    """

    google: GoogleClient
    path: str
    query: Mapping[str, Any] = attrs.Factory(dict)
    api: Api = COMPUTE
    patience: float = 120.0

    def page(self, call: Call, token: str = "", size: int = PAGE) -> dict[str, Any]:
        """Read the page that a token leads to, with at most `size` results; an empty token gives the first page.

        Returns the response as it is; its `nextPageToken` is missing on the last page.
        """
        query = {**self.query, "maxResults": min(size, PAGE), "pageToken": token or None}
        request = Request(api=self.api, method="GET", path=self.path, query=query, patience=self.patience)
        return self.google.send(request, call)

    def pages(self, call: Call, token: str = "") -> Iterator[dict[str, Any]]:
        """Read all pages, beginning with the one that a token leads to."""
        while True:
            page = self.page(call, token)
            yield page
            token = page.get("nextPageToken", "")
            if not token:
                return
