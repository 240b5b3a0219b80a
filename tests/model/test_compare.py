"""Diff ignores differences of spelling, and reports every real change at its exact path."""

from __future__ import annotations

import pytest
from values.programs import template

from gcpx.compute.instance_template import InstanceTemplateModel
from gcpx.model.diff import diff
from gcpx.model.fields import object_type
from gcpx.model.links import Location, same_link
from gcpx.model.values import UNKNOWN, format_path

HERE = Location("p", "r", "z")
NETWORKS, SUBNETWORKS, DISKS = "global/networks", "regions/subnetworks", "zones/disks"


@pytest.mark.parametrize(("bare", "one", "other", "expected"), [
    (NETWORKS, "default", "global/networks/default", True),
    (NETWORKS, "default", "https://www.googleapis.com/compute/v1/projects/p/global/networks/default", True),
    (NETWORKS, "projects/p/global/networks/n", "https://compute.googleapis.com/compute/beta/projects/p/global/networks/n", True),
    (NETWORKS, "global/networks/n", "projects/p/global/networks/n", True),
    (NETWORKS, "global/networks/n", "projects/q/global/networks/n", False),
    (NETWORKS, "projects/q/global/networks/n", "projects/p/global/networks/n", False),
    (NETWORKS, "networks/other", "global/networks/default", False),
    (NETWORKS, "fault", "global/networks/default", False),
    ("topics", "topics/t", "//pubsub.googleapis.com/projects/p/topics/t", True),
    ("topics", "t", "//pubsub.googleapis.com/projects/q/topics/t", False),
    (SUBNETWORKS, "s", "regions/r/subnetworks/s", True),
    (SUBNETWORKS, "s", "regions/r2/subnetworks/s", False),
    (SUBNETWORKS, "regions/r/subnetworks/s", "https://x.example.com/compute/v1/projects/p/regions/r2/subnetworks/s", False),
    (DISKS, "d", "zones/z/disks/d", True),
    (DISKS, "d", "zones/y/disks/d", False),
    (DISKS, "d", "regions/r/disks/d", False),
])  # fmt: skip
def test_links_are_equal_if_they_name_the_same_resource(bare, one, other, expected):
    assert same_link(one, other, bare, (HERE, HERE), sure=True) is expected
    assert same_link(other, one, bare, (HERE, HERE), sure=True) is expected


@pytest.mark.parametrize(("one", "other"), [
    ("global/networks/n", "projects/q/global/networks/n"),
    ("projects/123/global/networks/n", "projects/q/global/networks/n"),
])  # fmt: skip
def test_links_with_an_unknown_part_are_not_certainly_equal(one, other):
    assert same_link(one, other, NETWORKS)
    assert not same_link(one, other, NETWORKS, sure=True)


def _paths(model, old, new, live=None):
    return {format_path(change.path): change.kind for change in diff(object_type(model), old, new, live or {})}


BOOT = {"boot": True, "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}}
LOCAL_SSD = {"type": "SCRATCH", "autoDelete": True, "initializeParams": {"diskType": "local-ssd"}}
SMALL = {"initializeParams": {"diskSizeGb": 10}}
LARGE = {"initializeParams": {"diskSizeGb": 500}}
PODS = {"ipCidrRange": "/24", "subnetworkRangeName": "pods"}
SERVICES = {"ipCidrRange": "/24", "subnetworkRangeName": "services"}
EQUAL = [
    (template(networkInterfaces=[{"network": "default"}]), template(networkInterfaces=[{"network": "projects/p/global/networks/default"}])),
    (template(tags={"items": ["a", "b"]}), template(tags={"items": ["b", "a"]})),
    (template(labels={}), template()),
    (template(scheduling={}), template(scheduling={"automaticRestart": True, "provisioningModel": "STANDARD"})),
    (template(canIpForward=False), template()),
    (template(metadata={"items": [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}]}),
     template(metadata={"items": [{"key": "b", "value": "2"}, {"key": "a", "value": "1"}]})),
    (template(disks=[{"deviceName": "x", "diskSizeGb": 10}, {"deviceName": "y", "diskSizeGb": 20}]),
     template(disks=[{"deviceName": "y", "diskSizeGb": "20"}, {"deviceName": "x", "diskSizeGb": 10}])),
    (template(disks=[{"diskEncryptionKey": {"kmsKeyName": "projects/p/cryptoKeys/k"}}]),
     template(disks=[{"diskEncryptionKey": {"kmsKeyName": "projects/p/cryptoKeys/k/cryptoKeyVersions/3"}}])),
    (template(disks=[{"mode": "READ_WRITE", "type": "PERSISTENT", "deviceName": "persistent-disk-0"}]), template(disks=[{}])),
    (template(labels={"a": "b"}), template(labels={"a": "b", "goog-pulumi-provisioned": "true"})),
    (template(networkInterfaces=[{"aliasIpRanges": [PODS, SERVICES]}]), template(networkInterfaces=[{"aliasIpRanges": [SERVICES, PODS]}])),
    (template(disks=[BOOT, LOCAL_SSD]), template(disks=[LOCAL_SSD, BOOT])),
    (template(disks=[BOOT, SMALL, LARGE]), template(disks=[LARGE, SMALL, BOOT])),
    (template(disks=[BOOT, LOCAL_SSD]),
     template(disks=[BOOT, {**LOCAL_SSD, "initializeParams": {"diskType": "local-ssd", "diskSizeGb": 375}}])),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equivalent_inputs_are_not_a_change(one, other):
    assert _paths(InstanceTemplateModel, one, other) == {}
    assert _paths(InstanceTemplateModel, other, one) == {}


DIFFERENT = [
    (template(), template(machineType="e2-medium"), {"properties.machineType": "update"}),
    (template(), template(labels={"a": "b"}), {"properties.labels": "add"}),
    (template(labels={"a": "b", "c": "d"}), template(labels={"a": "b"}), {"properties.labels.c": "delete"}),
    (template(networkInterfaces=[{"accessConfigs": [{}]}]), template(networkInterfaces=[{}]),
     {"properties.networkInterfaces[0].accessConfigs": "delete"}),
    (template(tags={"items": ["a"]}), template(tags={"items": ["a", "b"]}), {"properties.tags.items[1]": "add"}),
    (template(metadata={"items": [{"key": "a", "value": "1"}]}), template(metadata={"items": [{"key": "a", "value": "2"}]}),
     {"properties.metadata.items[0].value": "update"}),
    (template(disks=[{"boot": True}]), template(disks=[{"boot": True}, {"source": "d"}]), {"properties.disks[1]": "add"}),
    (template(disks=[{"deviceName": "x"}, {"deviceName": "y"}]), template(disks=[{"deviceName": "y"}]),
     {"properties.disks[0]": "delete"}),
    (template(), {"sourceInstance": "i"}, {"properties": "delete", "sourceInstance": "add"}),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), DIFFERENT)
def test_a_change_is_reported_at_its_exact_path(old, new, expected):
    assert _paths(InstanceTemplateModel, old, new) == expected


@pytest.mark.parametrize(("name", "written", "shown"), [
    ("minCpuPlatform", "Intel Ice Lake", "Intel Ice Lake"),
    ("tags", {"items": ["web"]}, {"items": ["web"], "fingerprint": "42WmSpB8rSM="}),
    ("metadata", {"items": [{"key": "a", "value": "1"}]},
     {"items": [{"key": "a", "value": "1"}], "fingerprint": "42WmSpB8rSM=", "kind": "compute#metadata"}),
], ids=["scalar", "outputs beside it", "outputs beside a list of objects"])  # fmt: skip
def test_setting_a_property_to_the_servers_value_is_not_a_change(name, written, shown):
    old, new = template(), template(**{name: written})

    assert _paths(InstanceTemplateModel, old, new, {"properties": {name: shown}}) == {}
    assert _paths(InstanceTemplateModel, old, new) == {f"properties.{name}": "add"}


@pytest.mark.parametrize(("name", "shown"), [
    ("machineType", "e2-small"), ("scheduling", {"preemptible": True}), ("labels", {"a": "b"}), ("canIpForward", True),
    ("tags", {"items": ["a"]}), ("disks", [{"diskSizeGb": 10}]), ("networkInterfaces", [{"network": "default"}]),
])  # fmt: skip
def test_an_unknown_is_a_change_whatever_google_shows(name, shown):
    live = template(**{name: shown})
    before = {**template(), "properties": {key: item for key, item in template()["properties"].items() if key != name}}

    assert _paths(InstanceTemplateModel, before, template(**{name: UNKNOWN}), live) == {f"properties.{name}": "add"}
    assert f"properties.{name}" in _paths(InstanceTemplateModel, live, template(**{name: UNKNOWN}), live)


@pytest.mark.parametrize(("one", "other", "same"), [
    ("projects/p/global/instanceTemplates/t?uniqueId=1", "projects/p/global/instanceTemplates/t", True),
    ("t?uniqueId=1", "https://compute.googleapis.com/compute/v1/projects/p/global/instanceTemplates/t?uniqueId=1", True),
    ("projects/p/global/instanceTemplates/t?uniqueId=1", "projects/p/global/instanceTemplates/t?uniqueId=2", False),
    ("projects/p/global/instanceTemplates/t?uniqueId=1", "projects/p/global/instanceTemplates/u?uniqueId=1", False),
])  # fmt: skip
def test_a_unique_id_matters_only_if_both_links_have_one(one, other, same):
    templates, location = "global/instanceTemplates", (Location("p"), Location("p"))

    assert same_link(one, other, templates, location, sure=True) is same
    assert same_link(other, one, templates, location, sure=True) is same
