"""One insertion of a notification configuration, without a second one when the response is lost."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any, Final

import attrs

from gcpx.errors import safe_message
from gcpx.gcp.errors import NoResponse, Unfinished
from gcpx.storage.notification_config.collection import NotificationConfigs

_ATTEMPTS: Final = 3
_PAUSES: Final = (1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0)
"""Seconds between looks for what a request without a response created. After the last one, none is under way."""


@attrs.frozen(kw_only=True)
class Insertion:
    """What is inserted, and where. Cloud Storage has no request IDs, so after a lost response the list decides.

    Attributes:
        body: the configuration as Google's JSON.
        is_twin: tells whether a configuration in Google's JSON publishes the same events to the same topic.
    """

    configs: NotificationConfigs
    body: dict[str, Any]
    is_twin: Callable[[dict[str, Any]], bool]

    def twins(self) -> dict[str, dict[str, Any]]:
        """Find the bucket's configurations that are equal to this one, by Google's ID."""
        return {str(item["id"]): item for item in self.configs.read_all() if self.is_twin(item)}

    def run(self, before: Container[str]) -> dict[str, Any]:
        """Insert the configuration and give it as Google has it.

        `before` holds the IDs of the twins that existed before, so that a new twin is the one that we inserted.

        Raises:
            Unfinished: the configuration may have been created, and is not known.
            ApiError: Google refused it.
        """
        lost = Unfinished(f"POST {self.configs.path}: the response has no ID")
        for _ in range(_ATTEMPTS):
            try:
                found = self.configs.insert(self.body)
            except Unfinished as error:
                lost, found = error, {}
            created = found if isinstance(found.get("id"), str) else self._find_created(before, lost)
            if created is not None:
                return created
        raise lost

    def _find_created(self, before: Container[str], lost: Unfinished) -> dict[str, Any] | None:
        """Find the configuration that an insertion without a response created; None if it created none.

        A time-out does not say that Google has refused the request, so this looks until it cannot be under way any more.
        """
        for pause in _PAUSES:
            found = self._new_twin(before, lost)
            if found is not None or not isinstance(lost.__cause__, NoResponse):
                return found
            if self.configs.call.cancelled.wait(pause):
                raise lost
        return self._new_twin(before, lost)

    def _new_twin(self, before: Container[str], lost: Unfinished) -> dict[str, Any] | None:
        """Find an equal configuration that did not exist before."""
        try:
            twins = self.twins()
        except Exception as error:  # whatever went wrong, Google may have created the configuration
            raise Unfinished(
                f"{str(lost).rstrip('.')}. The bucket's list, which shows whether it was created, could not be read: "
                f"{safe_message(error).rstrip('.')}. Run `pulumi up` again to go on"
            ) from error
        return next((found for number, found in twins.items() if number not in before), None)
