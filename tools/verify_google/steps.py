"""The steps of the verification: the life of each resource with the smallest machines, and each function."""

from __future__ import annotations

import base64
import secrets
import struct
from collections.abc import Callable
from typing import Any, Final

from gcpx.gcp.errors import ApiError
from gcpx.gcp.request import PUBSUB, STORAGE
from verify_google.place import Place

_IMAGE: Final = "projects/debian-cloud/global/images/family/debian-12"
MACHINE: Final = "e2-micro"
PROPERTIES: Final[dict[str, Any]] = {
    "machineType": MACHINE,
    "disks": [{"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": _IMAGE, "diskSizeGb": 10}}],
    "networkInterfaces": [{"network": "default"}],
}
_NETWORKS: Final = [{"network": "global/networks/default"}]
_IAM_ROLE: Final = "roles/pubsub.publisher"
_NOT_EMULATED: Final = 501


def raw_properties() -> dict[str, Any]:
    """Return the properties of a template in the API's form."""
    (disk,) = PROPERTIES["disks"]
    disks = [{**disk, "initializeParams": {**disk["initializeParams"], "diskSizeGb": "10"}}]
    return {**PROPERTIES, "disks": disks, "networkInterfaces": _NETWORKS}


class Skipped(Exception):  # noqa: N818 - it names the outcome
    """A step lacks an optional argument."""


def _live(place: Place, token: str, inputs: dict[str, Any], *changes: dict[str, Any]) -> None:
    """Create, read, change, import and delete a resource; refreshes and previews must be empty."""
    engine, name = place.engine, place.prefix
    made = engine.create(token, name, inputs)
    _expect_settled(place, made, inputs)
    for change in changes:
        made = engine.update(made, {**inputs, **change})
        _expect_settled(place, made, {**inputs, **change})
    taken = engine.import_(token, name, made.id)
    if taken is None:
        raise AssertionError(f"an import does not find {made.id}")
    engine.delete(made)
    if not engine.is_gone(made):
        raise AssertionError("Google still shows it after its deletion")


def _expect_settled(place: Place, made: Any, inputs: dict[str, Any]) -> None:
    if drift := place.engine.drift(made):
        raise AssertionError(f"a refresh right after it shows changes: {', '.join(sorted(drift))}")
    if changed := set(place.engine.diff(made, inputs).detailedDiff):
        raise AssertionError(f"the next preview shows changes: {', '.join(sorted(changed))}")


def template(place: Place) -> None:
    """Try a global InstanceTemplate."""
    _live(place, "gcpx:compute:InstanceTemplate", {"name": f"{place.prefix}-t", "properties": PROPERTIES})


def regional_template(place: Place) -> None:
    """Try a regional InstanceTemplate."""
    inputs = {"name": f"{place.prefix}-r", "region": place.region, "properties": PROPERTIES}
    _live(place, "gcpx:compute:InstanceTemplate", inputs)


def surroundings(place: Place) -> None:
    """Create an instance, a disk, a bucket and a topic."""
    zone = f"v1/projects/PROJECT/zones/{place.zone}"
    machine = f"zones/{place.zone}/machineTypes/{MACHINE}"
    instance = {**raw_properties(), "name": f"{place.prefix}-vm", "machineType": machine}
    place.done(place.call("POST", f"{zone}/instances", instance))
    place.done(place.call("POST", f"{zone}/disks", {"name": f"{place.prefix}-data", "sizeGb": "10"}))
    topic = f"projects/{place.project}/topics/{place.prefix}"
    place.call("PUT", f"v1/{topic}", {}, api=PUBSUB)
    place.call("POST", "v1/b", {"name": f"{place.prefix}-b"}, api=STORAGE, project=place.project)
    agent = place.call("GET", f"v1/projects/{place.project}/serviceAccount", api=STORAGE)["email_address"]
    binding = {"role": _IAM_ROLE, "members": [f"serviceAccount:{agent}"]}
    try:
        place.call("POST", f"v1/{topic}:setIamPolicy", {"policy": {"bindings": [binding]}}, api=PUBSUB)
    except ApiError as error:
        if error.status != _NOT_EMULATED:
            raise


def attachment(place: Place) -> None:
    """Try a DiskAttachment."""
    inputs = {"instance": f"zones/{place.zone}/instances/{place.prefix}-vm", "disk": f"{place.prefix}-data"}
    _live(place, "gcpx:compute:DiskAttachment", inputs, {"autoDelete": True}, {"autoDelete": False})


def image(place: Place) -> None:
    """Try a MachineImage."""
    source = f"zones/{place.zone}/instances/{place.prefix}-vm"
    inputs = {"name": f"{place.prefix}-i", "sourceInstance": source, "labels": {"step": "one"}}
    _live(place, "gcpx:compute:MachineImage", inputs, {"labels": {"step": "two"}})


def fleet(place: Place) -> None:
    """Try a fleet of one instance, then of two."""
    inputs = {
        "region": place.region,
        "count": 1,
        "namePattern": f"{place.prefix}-f-#",
        "fleetId": place.prefix,
        "locationPolicy": {"zones": [{"zone": f"zones/{place.zone}"}]},
        "instanceProperties": {**PROPERTIES, "labels": {"step": "one"}},
    }
    relabelled = {"count": 2, "instanceProperties": {**PROPERTIES, "labels": {"step": "two"}}}
    _live(place, "gcpx:compute:BulkInstances", inputs, {"count": 2}, relabelled)


def notification(place: Place) -> None:
    """Try a NotificationConfig."""
    inputs = {"bucket": f"{place.prefix}-b", "topic": place.prefix, "eventTypes": ["OBJECT_FINALIZE"]}
    _live(place, "gcpx:storage:NotificationConfig", inputs)


def ssh_key(place: Place) -> None:
    """Try an SshKey."""
    if not place.user:
        raise Skipped("OSLOGIN_USER was not given")
    blob = struct.pack(">I", 11) + b"ssh-ed25519" + struct.pack(">I", 32) + secrets.token_bytes(32)
    key = f"ssh-ed25519 {base64.b64encode(blob).decode()} {place.prefix}"
    token = "gcpx:oslogin:SshKey"
    inputs = {"user": place.user, "key": key, "expirationTimeUsec": "1924991999000000"}
    made = place.engine.checked(token, place.prefix, inputs)
    place.facts["key"] = place.engine.preview(token, place.prefix, made)["fingerprint"]
    _live(place, token, inputs, {"expirationTimeUsec": "1930000000000000"})


def functions(place: Place) -> None:
    """Call the functions that list."""
    region = place.engine.invoke("gcpx:compute:listRegions", filter=f"name = {place.region}")
    if not region.get("items"):
        raise AssertionError(f"listRegions does not list {place.region}")
    for name in ("listInstanceTemplates", "aggregatedListInstanceTemplates", "aggregatedListInstances"):
        place.engine.invoke(f"gcpx:compute:{name}", filter=f'name eq "{place.prefix}.*"')


def get_operation(place: Place) -> None:
    """Call getOperation."""
    name = place.facts.get("operation")
    if name is None:
        raise Skipped("no operation is known")
    place.engine.invoke("gcpx:compute:getOperation", name=name)


def token_functions(place: Place) -> None:
    """Call getTokenInfo and verifyPushToken."""
    if not place.id_token:
        raise Skipped("ID_TOKEN was not given")
    info = place.engine.invoke("gcpx:oauth2:getTokenInfo", idToken=place.id_token)
    more = {"audience": info["aud"], "serviceAccountEmail": info.get("email", "")}
    place.engine.invoke("gcpx:pubsub:verifyPushToken", token=place.id_token, **more)


STEPS: Final[tuple[Callable[[Place], None], ...]] = (
    template,
    regional_template,
    surroundings,
    attachment,
    image,
    fleet,
    notification,
    ssh_key,
    functions,
)
"""The steps before the questions about assumptions, in order."""
LATER_STEPS: Final[tuple[Callable[[Place], None], ...]] = (get_operation, token_functions)
"""The steps that need their answers."""
