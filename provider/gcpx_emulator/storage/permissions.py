"""The permissions that calls of Cloud Storage need.

Source: "IAM permissions for JSON methods", and "Required permissions" on the page of each method in the JSON API's
reference; "Requester Pays" for `userProject`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.permissions import Need, declare_needs

_GET_BUCKETS: Final = "storage.buckets.get"
_GET_PROJECTS: Final = "resourcemanager.projects.get"
_LIST_BUCKETS: Final = "storage.buckets.list"
_USE_SERVICES: Final = "serviceusage.services.use"
_UPDATE_BUCKETS: Final = "storage.buckets.update"


def _pay(call: Call) -> Iterator[Need]:
    """Need to use the project that pays, if the request names one."""
    if call.query.get("userProject"):
        yield Need((_USE_SERVICES,), f"projects/{call.query['userProject']}")


def _update_bucket(call: Call) -> Iterator[Need]:
    yield from _pay(call)
    yield Need((_UPDATE_BUCKETS,), f"b/{call.path['bucket']}")


def _get_bucket(call: Call) -> Iterator[Need]:
    yield from _pay(call)
    yield Need((_GET_BUCKETS,), f"b/{call.path['bucket']}")


def _list_buckets(call: Call) -> Iterator[Need]:
    yield Need((_LIST_BUCKETS,), f"projects/{call.query['project']}")


def _get_project(call: Call) -> Iterator[Need]:
    yield Need((_GET_PROJECTS,), f"projects/{call.path['projectId']}")


declare_needs(
    [_GET_BUCKETS, _GET_PROJECTS, _LIST_BUCKETS, _UPDATE_BUCKETS, _USE_SERVICES],
    {
        "storage.buckets.get": _get_bucket,
        "storage.buckets.list": _list_buckets,
        "storage.notifications.delete": _update_bucket,
        "storage.notifications.get": _get_bucket,
        "storage.notifications.insert": _update_bucket,
        "storage.notifications.list": _get_bucket,
        "storage.projects.serviceAccount.get": _get_project,
    },
)
