"""The emulator answers, and the plugin reads, what Google was recorded to answer: the facts in `facts.csv`."""

from __future__ import annotations

import csv
import functools
import json
import re
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest
from servers import plain_http
from values.programs import DEBIAN, PROJECT, TOPICS, ZONE

from gcpx.compute.get_operation import Operation
from gcpx.compute.instance_template import InstanceTemplateModel
from gcpx.compute.list_functions import Instance
from gcpx.compute.machine_image import MachineImageModel
from gcpx.gcp.errors import NotFound, from_response
from gcpx.model.codec import from_body
from gcpx.model.fields import object_type
from gcpx.model.times import moment
from gcpx.storage.notification_config import NotificationConfigModel

LINK = "https://www.googleapis.com/compute/v1/projects/p/zones/z/disks/d"
FORMS = {
    "digits": (r"[0-9]+", "3853522013536123851"),
    "fingerprint": (r"[-\w]{11}=", "42WmSpB8rSM="),
    "full resource name": (r"//pubsub\.googleapis\.com/projects/.+", "//pubsub.googleapis.com/projects/p/topics/t"),
    "link": (r"https://www\.googleapis\.com/.+", LINK),
    "partial link": (r"projects/.+", "projects/p/zones/z/disks/d"),
    "text": (r".+", "words"),
    "time in UTC": (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "2026-02-06T15:12:59.596Z"),
    "time with offset": (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}-0[78]:00", "2026-06-29T12:21:52.100-07:00"),
}
"""The forms of texts, each with an example. Any other form is JSON, or the word `absent`."""
READERS = {
    "compute#instance": Instance,
    "compute#instanceTemplate": InstanceTemplateModel,
    "compute#machineImage": MachineImageModel,
    "compute#operation": Operation,
    "storage#notification": NotificationConfigModel,
}
"""What the plugin reads, by kind."""


@attrs.frozen
class Fact:
    """What a field of a kind of response was recorded to be, by whom and in which year."""

    kind: str
    field: str
    form: str
    source: str
    year: str

    def matches(self, value: Any) -> bool:
        """Return whether a value has the form."""
        if self.form in FORMS:
            return isinstance(value, str) and re.fullmatch(FORMS[self.form][0], value) is not None
        return bool(value == json.loads(self.form))

    @property
    def example(self) -> Any:
        """A value of the form."""
        return FORMS[self.form][1] if self.form in FORMS else json.loads(self.form)


with (Path(__file__).parent / "facts.csv").open(newline="") as file:
    FACTS = [Fact(**row) for row in csv.DictReader(file)]


def _values(body: Any, path: list[str]) -> list[Any]:
    """Return the values at a path, such as `disks[].source`, which may lead into lists."""
    if not path:
        return [body]
    name, *rest = path
    found = body.get(name.removesuffix("[]")) if isinstance(body, dict) else None
    if found is None:
        return []
    items = found if name.endswith("[]") else [found]
    return [value for item in items for value in _values(item, rest)]


V1 = f"/compute/v1/projects/{PROJECT}"
IN_ZONE = f"{V1}/zones/{ZONE}"
DISK = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": DEBIAN}}
PARTIAL = {**DISK, "initializeParams": {**DISK["initializeParams"], "diskType": f"zones/{ZONE}/diskTypes/pd-standard"}}
TEMPLATE = {
    "machineType": "n1-standard-1",
    "disks": [DISK],
    "networkInterfaces": [{"network": "global/networks/default"}],
    "metadata": {},
    "tags": {},
}
POLICY = {"bindings": [{"role": "roles/pubsub.publisher", "members": ["allUsers"]}]}


@attrs.frozen
class Answers:
    """The responses of the emulator by kind."""

    http: httpx.Client
    by_kind: dict[str, Any]

    def keep(self, kind: str, method: str, path: str, body: Any = None) -> Any:
        """Send a request, and keep its response."""
        answer = self.http.request(method, path, json=body)
        self.by_kind[kind] = answer.json() if answer.content else {}
        return self.by_kind[kind]

    def first(self, name: str, method: str, path: str, body: Any = None) -> None:
        """Send a request that starts an operation, and keep its first response."""
        operation = self.keep(f"first response of {name}", method, path, body)
        assert operation.get("kind") == "compute#operation", operation


@pytest.fixture(scope="module")
def answers(_emulator):
    """What the emulator answers to requests like those that were recorded."""
    _emulator.reset()
    _emulator.make_bucket()
    _emulator.make_topics()
    with plain_http.client(f"http://{_emulator.host}") as http:
        found = Answers(http, {})
        _of_compute(found)
        _of_networks(found)
        _of_snapshots(found)
        _of_storage_and_pubsub(found)
        yield found.by_kind


def _of_compute(found: Answers) -> None:
    vm, machine = f"{IN_ZONE}/instances/vm", f"{IN_ZONE}/machineTypes/n1-standard-1".removeprefix("/compute/v1/")
    source = f"projects/{PROJECT}/zones/{ZONE}/instances/vm"
    found.first(
        "instanceTemplates.insert", "POST", f"{V1}/global/instanceTemplates", {"name": "t", "properties": TEMPLATE}
    )
    found.keep("compute#instanceTemplate", "GET", f"{V1}/global/instanceTemplates/t")
    body = {**TEMPLATE, "name": "vm", "machineType": machine, "disks": [PARTIAL]}
    found.first("instances.insert", "POST", f"{IN_ZONE}/instances", body)
    operation = found.by_kind["first response of instances.insert"]["name"]
    found.keep("compute#operation", "GET", f"{IN_ZONE}/operations/{operation}")
    found.keep("compute#instance", "GET", vm)
    found.keep("compute#instance in beta", "GET", vm.replace("v1", "beta", 1))
    found.keep("compute#disk", "GET", f"{IN_ZONE}/disks/vm")
    found.keep("created", "POST", f"{IN_ZONE}/disks", {"name": "data", "sizeGb": "10"})
    found.keep("unattached compute#disk", "GET", f"{IN_ZONE}/disks/data")
    found.first("machineImages.insert", "POST", f"{V1}/global/machineImages?sourceInstance={source}", {"name": "m"})
    found.keep("compute#machineImage", "GET", f"{V1}/global/machineImages/m")
    link = f"projects/{PROJECT}/zones/{ZONE}/disks/data"
    found.first("instances.attachDisk", "POST", f"{vm}/attachDisk", {"source": link})
    live = found.keep("now", "GET", vm)
    found.first("instances.setMetadata", "POST", f"{vm}/setMetadata", {"fingerprint": live["metadata"]["fingerprint"]})
    labels = {"labels": {"a": "b"}, "labelFingerprint": live["labelFingerprint"]}
    found.first("instances.setLabels", "POST", f"{vm}/setLabels", labels)
    found.keep("stopped", "POST", f"{vm}/stop")
    found.first("instances.start", "POST", f"{vm}/start")
    found.first("instances.delete", "DELETE", vm)
    found.first("instanceTemplates.delete", "DELETE", f"{V1}/global/instanceTemplates/t")
    found.keep("compute#image", "GET", "/compute/v1/projects/debian-cloud/global/images/family/debian-12")
    found.keep("compute#network", "GET", f"{V1}/global/networks/default")
    found.keep("compute#subnetwork", "GET", f"{V1}/regions/us-east1/subnetworks/default")
    found.keep("compute#zone", "GET", IN_ZONE)
    found.keep("error of compute", "GET", f"{IN_ZONE}/instances/none")
    found.by_kind["headers of compute"] = dict(found.http.get(IN_ZONE).headers)
    found.http.post(
        "/_emulator/faults", json={"method": "compute.zones.get", "status": 403, "reason": "rateLimitExceeded"}
    )
    found.keep("exceeded rate of compute", "GET", IN_ZONE)


def _of_networks(found: Answers) -> None:
    networks, subnetworks = f"{V1}/global/networks", f"{V1}/regions/us-west4/subnetworks"
    network = {"name": "n", "autoCreateSubnetworks": False, "routingConfig": {"routingMode": "GLOBAL"}}
    found.first("networks.insert", "POST", networks, network)
    link = f"projects/{PROJECT}/global/networks/n"
    subnetwork = {"name": "s", "network": link, "ipCidrRange": "10.0.0.0/24", "logConfig": {"enable": False}}
    found.first("subnetworks.insert", "POST", subnetworks, subnetwork)
    found.keep("custom compute#network", "GET", f"{networks}/n")
    made = found.keep("new compute#subnetwork", "GET", f"{subnetworks}/s")
    patch = {"fingerprint": made["fingerprint"], "logConfig": {"enable": True}}
    found.first("subnetworks.patch", "PATCH", f"{subnetworks}/s", patch)
    access = {"privateIpGoogleAccess": True}
    found.first("subnetworks.setPrivateIpGoogleAccess", "POST", f"{subnetworks}/s/setPrivateIpGoogleAccess", access)
    found.first("subnetworks.delete", "DELETE", f"{subnetworks}/s")
    rule = {"name": "f", "network": link, "allowed": [{"IPProtocol": "tcp"}]}
    found.keep("created", "POST", f"{V1}/global/firewalls", rule)
    found.first("firewalls.patch", "PATCH", f"{V1}/global/firewalls/f", {"disabled": True})
    found.first("firewalls.delete", "DELETE", f"{V1}/global/firewalls/f")
    regional, addresses = f"{V1}/regions/us-central1/addresses", f"{V1}/global/addresses"
    found.keep("created", "POST", regional, {"name": "a"})
    found.keep("compute#address", "GET", f"{regional}/a")
    peers = {"addressType": "INTERNAL", "purpose": "VPC_PEERING", "network": link, "prefixLength": 16}
    found.first("globalAddresses.insert", "POST", addresses, {"name": "a", "labels": {"a": "b"}, **peers})
    made = found.keep("global compute#address", "GET", f"{addresses}/a")
    labels = {"labels": {"a": "b"}, "labelFingerprint": made["labelFingerprint"]}
    found.first("globalAddresses.setLabels", "POST", f"{addresses}/a/setLabels", labels)
    found.first("globalAddresses.delete", "DELETE", f"{addresses}/a")


def _of_snapshots(found: Answers) -> None:
    snapshots, source = f"{V1}/global/snapshots", f"projects/{PROJECT}/zones/{ZONE}/disks/data"
    found.keep("created", "POST", snapshots, {"name": "s", "sourceDisk": source})
    made = found.keep("compute#snapshot", "GET", f"{snapshots}/s")
    labels = {"labels": {"a": "b"}, "labelFingerprint": made["labelFingerprint"]}
    found.first("snapshots.setLabels", "POST", f"{snapshots}/s/setLabels", labels)


def _of_storage_and_pubsub(found: Answers) -> None:
    bucket, topic = "/storage/v1/b/recorded", f"/v1/{TOPICS[1]}"
    body = {"name": "recorded", "lifecycle": {"rule": []}, "iamConfiguration": {"uniformBucketLevelAccess": {}}}
    found.keep("storage#bucket", "POST", f"/storage/v1/b?project={PROJECT}", body)
    found.keep("storage#objects", "GET", f"{bucket}/o")
    found.keep(
        "storage#notification", "POST", f"{bucket}/notificationConfigs", {"topic": TOPICS[1], "payload_format": "NONE"}
    )
    found.keep("deleted", "DELETE", f"{bucket}/notificationConfigs/1")
    found.keep("storage#bucket after two changes of notifications", "GET", bucket)
    found.by_kind["headers of storage"] = dict(found.http.get(bucket).headers)
    found.keep("error of storage", "GET", "/storage/v1/b/none")
    found.keep("pubsub topic policy", "GET", f"{topic}:getIamPolicy")
    found.keep("changed pubsub topic policy", "POST", f"{topic}:setIamPolicy", {"policy": POLICY})
    push = {"pushEndpoint": "https://example.com/push", "noWrapper": {"writeMetadata": False}}
    found.keep(
        "pubsub subscription",
        "PUT",
        f"/v1/projects/{PROJECT}/subscriptions/worker",
        {"topic": TOPICS[1], "pushConfig": push},
    )
    found.keep("read pubsub subscription", "GET", f"/v1/projects/{PROJECT}/subscriptions/worker")
    pull = f"/v1/projects/{PROJECT}/subscriptions/puller"
    found.keep("new pull pubsub subscription", "PUT", pull, {"topic": TOPICS[1]})
    found.by_kind["headers of pubsub"] = dict(found.http.get(topic).headers)
    found.keep("error of pubsub", "GET", f"{topic}-none")
    found.keep("error of oslogin", "GET", "/v1/users/somebody@example.com/sshPublicKeys/none")


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact.kind} {fact.field}")
def test_the_emulator_answers_as_google_was_recorded(answers, fact):
    found = _values(answers[fact.kind], fact.field.split("."))

    if fact.form == "absent":
        assert found == []
    else:
        assert found, answers[fact.kind]
        assert [value for value in found if not fact.matches(value)] == []


@pytest.mark.parametrize("kind", READERS)
def test_the_plugin_reads_what_google_was_recorded_to_answer(answers, kind):
    recorded = functools.reduce(_with, [fact for fact in FACTS if fact.kind == kind and fact.form != "absent"], {})
    declared = object_type(READERS[kind])

    for body in (recorded, answers[kind]):
        _check_read(from_body(declared, body), body, declared)


def _with(body: dict[str, Any], fact: Fact) -> dict[str, Any]:
    """Add the example of a fact to a body."""
    *parents, last = fact.field.split(".")
    place: Any = body
    for name in parents:
        place = place.setdefault(name.removesuffix("[]"), [{}] if name.endswith("[]") else {})
        place = place[0] if isinstance(place, list) else place
    place[last.removesuffix("[]")] = [fact.example] if last.endswith("[]") else fact.example
    return body


def _check_read(found: dict[str, Any], body: dict[str, Any], declared: Any) -> None:
    """Check that every value that the plugin declares is read, and means the same."""
    for name, prop in declared.properties.items():
        given = body.get(prop.wire)
        if given is None or isinstance(given, dict | list):
            continue
        assert str(found[name]) == str(given), name
        if isinstance(given, str) and re.fullmatch(FORMS["time with offset"][0], given):
            assert moment(given) is not None, name


@pytest.mark.parametrize("api", ["compute", "storage", "pubsub", "oslogin"])
def test_the_plugin_understands_the_errors_of_every_api(answers, api):
    body = answers[f"error of {api}"]
    error = from_response("get it", 404, body)

    assert isinstance(error, NotFound)
    assert body["error"]["message"] in str(error)
