"""Unknown names in bodies of Compute and Cloud Storage, which an emulator ignores as Google does, unless it is strict."""

from __future__ import annotations

import logging

import pytest
from values.programs import BUCKET, PROJECT, ZONE, properties

TEMPLATES = f"/compute/v1/projects/{PROJECT}/global/instanceTemplates"
IGNORED = "X-Emulator-Ignored"


@pytest.fixture
def lenient(cloud):
    """The emulator as users start it."""
    cloud.emulator.strict = False
    yield cloud
    cloud.emulator.strict = True


def test_they_are_left_out_at_any_depth_and_named(lenient, http, caplog):
    disks = [*properties()["disks"], {"unknown": [{}], "source": "data"}]
    body = {"name": "web", "zone": ZONE, "properties": properties(disks=disks, displayDevice={"enableDisplay": True})}
    with caplog.at_level(logging.WARNING, "gcpx_emulator"):
        answer = http.post(TEMPLATES, json=body)
    made = http.get(f"{TEMPLATES}/web").json()
    names = "zone, properties.disks[1].unknown, properties.displayDevice"

    assert (answer.status_code, answer.headers[IGNORED]) == (200, names)
    assert names in caplog.text
    assert "compute.instanceTemplates.insert" in caplog.text
    assert "zone" not in made
    assert {"unknown", "displayDevice"}.isdisjoint({*made["properties"], *made["properties"]["disks"][1]})
    assert lenient.requests("compute.instanceTemplates.insert")[0]["ignored"] == names.split(", ")


def test_nulls_and_names_of_any_characters_are_ignored_too(lenient, http):
    body = {"name": "other-bucket", "ü\r\nSet-Cookie: a": 1, "retentionExpirationTime": None}
    answer = http.post(f"/storage/v1/b?project={PROJECT}", json=body)

    assert (answer.status_code, answer.headers[IGNORED]) == (200, "\\xfc\\r\\nSet-Cookie: a, retentionExpirationTime")


def test_only_the_first_names_are_in_the_header(lenient, http):
    body = {f"a{number}": 1 for number in range(5000)}
    assert http.patch(f"/storage/v1/b/{BUCKET}", json=body).headers[IGNORED].count("a") == 20


def test_a_body_where_none_is_expected_is_ignored(lenient, http, vm):
    for body in ({"instance": "x"}, ["x"]):
        answer = http.post(f"/compute/v1/{vm}/reset", json=body)
        assert (answer.status_code, answer.headers[IGNORED]) == (200, "instance" if body != ["x"] else "the body")


def test_known_names_are_still_checked_and_other_apis_still_refuse(lenient, http):
    wrong = http.post(TEMPLATES, json={"name": "a", "unknown": 1, "properties": {"canIpForward": "yes"}})
    other = http.put(f"/v1/projects/{PROJECT}/topics/made", json={"unknown": 1})

    assert (wrong.status_code, wrong.headers[IGNORED]) == (400, "unknown")
    assert (other.status_code, IGNORED in other.headers) == (400, False)


def test_a_request_with_known_names_has_no_header(lenient, http):
    assert IGNORED not in http.get(f"/storage/v1/b/{BUCKET}").headers


def test_a_strict_emulator_refuses_them(http, vm):
    unknown = http.post(f"/storage/v1/b?project={PROJECT}", json={"name": "other-bucket", "zone": ZONE})
    unexpected = http.post(f"/compute/v1/{vm}/reset", json={"instance": "x"})

    assert (unknown.status_code, unexpected.status_code) == (400, 400)
