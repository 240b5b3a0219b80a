"""One creation under request IDs that stay the same: nothing is made twice, and no old failure is repeated."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from gcpx.compute.operations import Outcome
from gcpx.errors import safe_message
from gcpx.gcp.errors import Unfinished

_ATTEMPTS: Final = 4
"""Request IDs for one creation. The last one is new each time: by then, earlier results are known to be gone."""


@attrs.frozen(kw_only=True)
class Creation:
    """What is to be created once, over retries and over another `pulumi up`.

    Attributes:
        namespace: keeps creations of different kinds apart.
        content: what makes this creation another than the next; request IDs follow from it.
        send: asks for the creation under a request ID, and gives Google's operation.
        follow: waits until the operation has ended.
        there: tells whether what an operation made is still there.
    """

    namespace: uuid.UUID
    content: list[Any]
    send: Callable[[str], dict[str, Any]]
    follow: Callable[[dict[str, Any]], Outcome]
    there: Callable[[Outcome], bool]

    def run(self) -> Outcome:
        """Create it, and give what came of it.

        An operation that was done before we asked is of an earlier run. When nothing of it is left, because it failed
        or because someone deleted what it made, the next request ID in line asks again.
        """
        outcome = None
        for request_id in self._request_ids():
            operation = self.send(request_id)
            outcome = self.follow(operation)
            if operation.get("status") != "DONE" or self._left(outcome):
                return outcome
        assert outcome is not None  # noqa: S101 - there is at least one request ID
        return outcome

    @property
    def derived(self) -> list[str]:
        """The request IDs in line that follow from the content, so that another run asks under them, too."""
        return [
            str(uuid.uuid5(self.namespace, json.dumps([*self.content, number], sort_keys=True)))
            for number in range(_ATTEMPTS - 1)
        ]

    def _left(self, outcome: Outcome) -> bool:
        try:
            return self.there(outcome)
        except Exception as error:  # after any error, keep what was created
            words = f"created by an earlier run, but it could not be read: {safe_message(error)}"
            raise Unfinished(words, outcome.operation) from error

    def _request_ids(self) -> Iterator[str]:
        yield from self.derived
        yield str(uuid.uuid4())
