"""Constraints: values on both sides of each, in every request that has the object."""

from __future__ import annotations

import pytest
from servers.compute_requests import (
    BASE,
    PLACES,
    REGION,
    VM,
    bulk,
    disk,
    instance,
    machine_image,
    regional_disk,
    regional_template,
    send,
    set_labels,
    set_metadata,
    set_tags,
    template,
)
from values.constraint_cases import CASES, NAMES, OTHER_RAW, metadata_items
from values.programs import ZONE, properties

from gcpx_emulator.compute.constraints import CONSTRAINTS


@pytest.fixture
def http(http):
    """A client, in a project with an instance, a disk, a resource policy and a machine image."""
    url, body = instance(http)
    http.post(url, json={**body, "name": "example-vm", "disks": [{**body["disks"][0], "deviceName": "boot"}]})
    http.post(f"{BASE}/zones/{ZONE}/disks", json={"name": "example-data"})
    http.post(f"{BASE}/regions/{REGION}/resourcePolicies", json={"name": "daily"})
    source = VM.partition("/beta/")[2]
    http.post(f"{BASE}/global/machineImages?sourceInstance={source}", json={"name": "image"})
    managed = {"name": "managed", "properties": properties()}
    http.post(f"{BASE}/global/instanceTemplates", json=managed)
    return http


def _tried(case, fragments):
    """Return every fragment in one place, and one in every place."""
    first, *others = case.places or PLACES[case.schema]
    return [*((first, fragment) for fragment in fragments), *((place, fragments[0]) for place in others)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_values_within_a_constraint_are_accepted_and_others_are_refused(http, case):
    for (make, path), fragment in _tried(case, case.accepted):
        answer = send(http, make, path, fragment)
        assert answer.status_code == 200, (make.__name__, fragment, answer.text)
    for (make, path), fragment in _tried(case, case.refused):
        answer = send(http, make, path, fragment)
        assert answer.status_code == 400, (make.__name__, fragment, answer.text[:400])
        error = answer.json()["error"]
        assert error["message"].startswith("Invalid value for field 'resource."), error
        assert error["message"].endswith(case.constraint.message), error
        assert (error["code"], error["errors"][0]["reason"]) == (400, "invalid")


def test_every_constraint_has_a_case():
    assert {id(constraint) for constraint in CONSTRAINTS} == {id(case.constraint) for case in CASES}


@pytest.mark.parametrize(
    ("make", "path", "fragment", "field", "value"),
    [
        (template, "properties.scheduling", {"hostErrorTimeoutSeconds": 91}, "properties.scheduling.hostErrorTimeoutSeconds", "91"),
        (instance, "disks.+.initializeParams", {"diskSizeGb": "9"}, "disks[1].initializeParams.diskSizeGb", "9"),
        (bulk, "", {"perInstanceProperties": {"A": {}}}, "perInstanceProperties.A", "A"),
        (set_metadata, "", metadata_items(("a", "v"), ("b c", "v")), "items[1].key", "b c"),
        (set_metadata, "", metadata_items(("a", "v" * 262_145)), "items[0].value", ""),
        (instance, "disks.+.diskEncryptionKey", {"rawKey": OTHER_RAW}, "disks[1].diskEncryptionKey.rawKey", ""),
        (set_labels, "", {"labels": {"a": "b", "c": "D"}}, "labels.c", "D"),
        (set_tags, "", {"items": ["x" * 200]}, "items[0]", "x" * 100 + "..."),
    ],
)  # fmt: skip
def test_a_refusal_names_the_field_and_shows_no_key(http, make, path, fragment, field, value):
    answer = send(http, make, path, fragment)

    assert answer.json()["error"]["message"].startswith(f"Invalid value for field 'resource.{field}': '{value}'. ")


def test_properties_merged_into_a_template_are_checked_as_a_whole(http):
    url, base = template(http)
    reservation = {"consumeReservationType": "SPECIFIC_RESERVATION", "key": "k", "values": ["v"]}
    base["properties"] |= {"reservationAffinity": reservation, "scheduling": {"maxRunDuration": {"seconds": "60"}}}
    http.post(url, json=base)
    source = f"global/instanceTemplates/{base['name']}"
    body = {"count": "1", "namePattern": "m-#", "sourceInstanceTemplate": source}
    own = {"reservationAffinity": {"values": ["w"]}}
    both = {"scheduling": {"terminationTime": "2040-01-01T00:00:00Z"}}
    path = f"{BASE}/regions/{REGION}/instances/bulkInsert"

    assert http.post(path, json={**body, "instanceProperties": own}).status_code == 200
    refused = http.post(path, json={**body, "instanceProperties": both})
    assert refused.status_code == 400
    assert "'resource.instanceProperties.scheduling.terminationTime'" in refused.text


@pytest.mark.parametrize("make", [template, regional_template, instance, disk, regional_disk, machine_image])
def test_names_are_of_the_form_of_rfc_1035(http, make):
    for names, status in zip(NAMES, (200, 400), strict=True):
        for name in names:
            answer = send(http, make, "", {"name": name})
            assert answer.status_code == status, (name, answer.text)
            assert status == 200 or "'resource.name'" in answer.json()["error"]["message"]
