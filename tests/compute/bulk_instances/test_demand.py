"""Instances that are wanted by name and zone, as a replacement of members needs them, without a call of the engine."""

from __future__ import annotations

import threading

import pytest
from rolling.fleets import set_limits
from values.programs import PROJECT, fleet

from gcpx.compute.bulk_instances.creation import Demand, create_instances
from gcpx.compute.bulk_instances.fleet import Fleet
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.settings import Settings
from gcpx.model.context import Context

BULK = "compute.regionInstances.bulkInsert"


@pytest.fixture
def create(cloud):
    """Return a function that creates wanted instances of the fleet `crew`, and returns the creation and the members."""
    google = GoogleClient(Settings(project=PROJECT, emulator_host=cloud.host))
    crew = Fleet(google, PROJECT, "us-east1", "crew")
    call = Context(
        urn="urn", timeout=None, started=0, cancelled=threading.Event(), progress=print, inform=print, warn=print
    )

    def created(inputs, existing=(), **wanted):
        creation = create_instances(call, crew, inputs, list(existing), Demand(**wanted))
        return creation, crew.members(call)

    yield created
    google.close()


def _places(members):
    return {member["name"]: member["zone"].rpartition("/")[2] for member in members}


def test_a_fleet_with_a_pattern_gets_wanted_names_in_a_wanted_zone(create, cloud):
    policy = {"locations": {"zones/us-east1-c": {"preference": "DENY"}}, "targetShape": "BALANCED"}
    labels = {"gcpx-generation": "two"}
    creation, members = create(fleet(3, locationPolicy=policy), count=2, names=["web-007", "web-009"], zone="us-east1-c", labels=labels)  # fmt: skip

    assert (creation.created, creation.error, creation.outputs["shortfalls"]) == (2, None, [])
    assert _places(members) == {"web-007": "us-east1-c", "web-009": "us-east1-c"}
    assert all(member["labels"].items() >= {"gcpx-bulk": "crew", **labels}.items() for member in members)
    (body,) = (entry["body"] for entry in cloud.requests(BULK))
    assert "namePattern" not in body
    assert body["perInstanceProperties"] == {"web-007": {}, "web-009": {}}


def test_another_creation_beside_existing_members_is_another_request(create, cloud):
    inputs = fleet(4)
    _, members = create(inputs, count=2)
    _, members = create(inputs, existing=members, count=2)

    assert len(members) == 4
    assert len({entry["query"]["requestId"] for entry in cloud.requests(BULK)}) == 2


def test_fallbacks_in_other_zones_are_not_tried_for_a_wanted_zone(create, cloud):
    set_limits(cloud, zones={"us-east1-c": 1}, machineTypes={"us-east1-c": {"e2-small": 1}})
    fallbacks = [{"zones": ["us-east1-b"]}, {"zones": ["us-east1-c"], "machineType": "n2-standard-2"}]
    creation, members = create(fleet(3, fallbacks=fallbacks), count=2, names=["web-001", "web-002"], zone="us-east1-c")

    assert len(members) == 1
    assert [item["zone"] for item in creation.outputs["shortfalls"]] == ["us-east1-c", "us-east1-c"]
    assert len(cloud.requests(BULK)) == 2
    assert creation.error is not None


def test_nothing_wanted_sends_nothing(create, cloud):
    creation, members = create(fleet(3), count=0)

    assert (creation.created, members, cloud.calls(BULK)) == (0, [], [])
