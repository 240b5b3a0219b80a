"""The permissions that calls of Cloud Storage need.

Source: "Required permissions" on the page of each method in the JSON API's reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.permissions import Need, declare_needs

_UPDATE_BUCKETS: Final = "storage.buckets.update"


def _update_bucket(call: Call) -> Iterator[Need]:
    yield Need((_UPDATE_BUCKETS,), f"b/{call.path['bucket']}")


declare_needs([_UPDATE_BUCKETS], {"storage.notifications.delete": _update_bucket})
