"""List methods: one page, or all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from gcpx.gcp.client import COMPUTE, Api, Google, Request
from gcpx.model.call import Call

PAGE: Final = 500
"""The most results that Compute puts on a page, and what it takes by itself."""


@attrs.frozen(kw_only=True)
class ListMethod:
    """One list method with what is asked of it.

    Attributes:
        path: below the API's path, with the version.
        query: without page size and token.
    """

    google: Google
    path: str
    query: Mapping[str, Any] = attrs.Factory(dict)
    api: Api = COMPUTE

    def page(self, waiting: Call, token: str = "", size: int = PAGE) -> dict[str, Any]:
        """Read one page."""
        query = {**self.query, "maxResults": min(size, PAGE), "pageToken": token or None}
        return self.google.send(Request(api=self.api, method="GET", path=self.path, query=query), waiting)

    def pages(self, waiting: Call, token: str = "") -> Iterator[dict[str, Any]]:
        """Read every page from a token on."""
        while True:
            page = self.page(waiting, token)
            yield page
            token = page.get("nextPageToken", "")
            if not token:
                return
