"""Projects, of which every one exists, and their settings: the metadata of all instances, where usage is exported."""

from __future__ import annotations

from gcpx_emulator.compute.call import Call, check_ready, handles
from gcpx_emulator.compute.fingerprints import metadata_with_fingerprint
from gcpx_emulator.compute.lists import show
from gcpx_emulator.compute.predefined_resources import CREATED, QUOTAS
from gcpx_emulator.core.errors import invalid, stale
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.projects import default_service_account, project_number


@handles("compute.projects.get")
def get_project(call: Call) -> Json:
    """Read a project."""
    return show(call, _project(call))


@handles("compute.projects.setCommonInstanceMetadata")
def set_common_metadata(call: Call) -> Json:
    """Replace the metadata that a project gives all its instances."""
    project = _project(call)
    if call.body.get("fingerprint") != project["commonInstanceMetadata"]["fingerprint"]:
        raise stale("metadata")
    metadata = metadata_with_fingerprint(call.body.get("items") or [])
    return _update(call, project | {"commonInstanceMetadata": metadata})


@handles("compute.projects.setUsageExportBucket")
def set_usage_export(call: Call) -> Json:
    """Export usage reports to an existing bucket; an empty request ends the export."""
    bucket = call.body.get("bucketName", "")
    name = bucket.removeprefix("gs://").removeprefix("https://storage.googleapis.com/")
    if bucket and call.store.get(f"b/{name}") is None:
        raise invalid("bucketName", bucket, "The bucket does not exist.")
    return _update(call, _project(call) | {"usageExportLocation": call.body if bucket else None})


def _project(call: Call) -> Json:
    """Return the project of a call, which is stored when a setting of it is changed for the first time."""
    name = call.path["project"]
    return call.store.get(call.project) or {
        "kind": "compute#project",
        "id": project_number(name),
        "name": name,
        "creationTimestamp": CREATED,
        "selfLink": call.url(call.project),
        "defaultNetworkTier": "PREMIUM",
        "defaultServiceAccount": default_service_account(name),
        "quotas": [{"metric": metric, "limit": limit, "usage": 0} for metric, limit in QUOTAS.items()],
        "commonInstanceMetadata": {"kind": "compute#metadata", "fingerprint": "AAAAAAAAAAA="},
    }


def _update(call: Call, project: Json) -> Json:
    """Start the operation that changes a project."""
    check_ready(call, call.project)
    call.store.put(call.project, _project(call))
    return call.update(call.method.id, call.project, project)
