"""The resources of Compute that Pulumi's List finds, so that users can import them.

The functions that list resources for programs are in `list_functions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from gcpx.gcp.client import GoogleClient
from gcpx.gcp.list_method import ListMethod, any_scope, items_of
from gcpx.model.call import Call


@attrs.frozen(kw_only=True)
class ImportableResources:
    """The items of one collection, in one scope or in all scopes of a project.

    Attributes:
        version: the API version, `v1` or `beta`.
        collection: the collection's name, such as `instanceTemplates`.
        fields: the fields of each item to read, as a field mask such as `selfLink,name`.
        scope: `global`, `regions/R` or `zones/Z`; empty for all scopes.
        filter: a filter expression; None or empty for all items.
        needs: which scopes must be on the list, as in `ListMethod`.
    """

    google: GoogleClient
    project: str
    version: str
    collection: str
    fields: str
    scope: str = ""
    filter: str | None = None
    needs: Callable[[str], bool] = any_scope

    def read_page(self, call: Call, token: str, size: int) -> tuple[list[dict[str, Any]], str]:
        """Read one page: its items (REST JSON), and the token of the next page, which is empty at the end.

        `token` is empty for the first page; `size` is the most items that Google may put on the page.
        """
        page = self._method.page(call, token, size)
        return self._items(page), page.get("nextPageToken", "")

    def read_all(self, call: Call) -> Iterator[dict[str, Any]]:
        """Read the items of all pages."""
        for page in self._method.pages(call):
            yield from self._items(page)

    @property
    def _method(self) -> ListMethod:
        """The list method of the scope, or the aggregated one for all scopes."""
        path = f"{self.version}/projects/{self.project}/{self.scope or 'aggregated'}/{self.collection}"
        query = {"filter": self.filter or None}
        return ListMethod(google=self.google, path=path, query=query, fields=self.fields, needs=self.needs)

    def _items(self, page: dict[str, Any]) -> list[dict[str, Any]]:
        return items_of(page, "" if self.scope else self.collection)
