"""The permissions that calls of Cloud Storage need.

Source: "IAM permissions for JSON methods", and "Required permissions" on the page of each method in the JSON API's
reference; "Requester Pays" for `userProject`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gcpx_emulator.core.call import Call
from gcpx_emulator.core.permissions import declare_needs, need


def _payer(call: Call) -> Iterator[str]:
    """List the project that pays, if the request names one."""
    if call.query.get("userProject"):
        yield f"projects/{call.query['userProject']}"


def _bucket(call: Call) -> Iterator[str]:
    yield f"b/{call.path['bucket']}"


_PAY: Final = need(_payer, "serviceusage.services.use on the project that pays if `userProject` is set")
_GET_BUCKET: Final = (need(_bucket, "storage.buckets.get on the bucket"), _PAY)
_UPDATE_BUCKET: Final = (need(_bucket, "storage.buckets.update on the bucket"), _PAY)
declare_needs(
    {
        "storage.buckets.get": _GET_BUCKET,
        "storage.buckets.getIamPolicy": (need(_bucket, "storage.buckets.getIamPolicy on the bucket"), _PAY),
        "storage.buckets.lockRetentionPolicy": _UPDATE_BUCKET,
        "storage.buckets.patch": _UPDATE_BUCKET,
        "storage.buckets.setIamPolicy": (need(_bucket, "storage.buckets.setIamPolicy on the bucket"), _PAY),
        "storage.buckets.update": _UPDATE_BUCKET,
        "storage.buckets.list": (
            need(lambda call: [f"projects/{call.query['project']}"], "storage.buckets.list on the project"),
        ),
        "storage.notifications.delete": _UPDATE_BUCKET,
        "storage.notifications.get": _GET_BUCKET,
        "storage.notifications.insert": _UPDATE_BUCKET,
        "storage.notifications.list": _GET_BUCKET,
        "storage.projects.serviceAccount.get": (
            need(
                lambda call: [f"projects/{call.path['projectId']}"],
                "resourcemanager.projects.get on the bucket's project",
            ),
        ),
    }
)
