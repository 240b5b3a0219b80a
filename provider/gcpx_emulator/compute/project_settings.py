"""What a project's settings are changed to: where its usage reports are exported."""

from __future__ import annotations

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.work import Work
from gcpx_emulator.core.errors import invalid
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import delete, put
from gcpx_emulator.core.projects import project_number


def _path(call: Call) -> str:
    return f"{call.project}/settings/usageExportLocation"


def usage_export(call: Call) -> Json:
    """Return the field of a project that says where its usage reports are exported; empty if they are not."""
    location = call.store.get(_path(call))
    return {"usageExportLocation": location} if location else {}


@handles("compute.projects.setUsageExportBucket")
def set_usage_export(call: Call) -> Json:
    """Export usage reports to an existing bucket; an empty request ends the export."""
    bucket = call.body.get("bucketName", "")
    name = bucket.removeprefix("gs://").removeprefix("https://storage.googleapis.com/")
    if bucket and call.store.get(f"b/{name}") is None:
        raise invalid("bucketName", bucket, "The bucket does not exist.")
    effect = put(_path(call), call.body) if bucket else delete(_path(call))
    number = project_number(call.path["project"])
    return call.start(Work(kind=call.method.id, target=call.project, target_id=number, effects=[effect]))
