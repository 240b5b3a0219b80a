"""Holds, retention and keys of objects."""

from __future__ import annotations

import pytest
from values.programs import BUCKET

OBJECTS = f"/storage/v1/b/{BUCKET}/o"
UPLOADS = f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name="
KEY = "projects/p/locations/us/keyRings/r/cryptoKeys/k"


def _upload(http, name="one"):
    return http.post(UPLOADS + name, content=b"x")


@pytest.mark.parametrize(("hold", "word"), [("temporaryHold", "Temporary"), ("eventBasedHold", "Event-Based")])
def test_a_held_object_is_neither_deleted_nor_replaced_until_it_is_released(http, hold, word):
    _upload(http)
    assert http.patch(f"{OBJECTS}/one", json={hold: True}).json()[hold] is True

    copied = http.post(f"{OBJECTS}/one/rewriteTo/b/{BUCKET}/o/two", json={})
    assert hold not in copied.json()["resource"]
    refused = [
        _upload(http),
        http.delete(f"{OBJECTS}/one"),
        http.post(f"{OBJECTS}/two/rewriteTo/b/{BUCKET}/o/one", json={}),
    ]

    assert [answer.status_code for answer in refused] == [403] * 3
    assert f"under active {word} hold" in refused[0].json()["error"]["message"]
    http.patch(f"{OBJECTS}/one", json={hold: False})
    assert http.delete(f"{OBJECTS}/one").status_code == 204


def test_the_default_hold_of_a_bucket_begins_the_retention_when_it_is_released(http, cloud):
    settings = {"defaultEventBasedHold": True, "retentionPolicy": {"retentionPeriod": "3600"}}
    http.patch(f"/storage/v1/b/{BUCKET}", json=settings)

    made = _upload(http).json()
    assert made["eventBasedHold"] is True
    assert "retentionExpirationTime" not in made
    freed = http.patch(f"{OBJECTS}/one", json={"eventBasedHold": False}).json()
    assert freed["retentionExpirationTime"] > made["timeCreated"]
    assert http.delete(f"{OBJECTS}/one").json()["error"]["errors"][0]["reason"] == "retentionPolicyNotMet"
    cloud.emulator.advance(3700)
    assert http.delete(f"{OBJECTS}/one").status_code == 204


def test_retention_permits_versions_that_are_kept(http):
    policy = {"versioning": {"enabled": True}, "retentionPolicy": {"retentionPeriod": "3600"}}
    http.patch(f"/storage/v1/b/{BUCKET}", json=policy)
    first = _upload(http).json()["generation"]

    assert _upload(http).status_code == 200
    assert http.delete(f"{OBJECTS}/one?generation={first}").status_code == 403


def test_the_name_of_a_key_is_kept(http):
    assert _upload(http, f"one&kmsKeyName={KEY}").json()["kmsKeyName"] == f"{KEY}/cryptoKeyVersions/1"
    http.patch(f"/storage/v1/b/{BUCKET}", json={"encryption": {"defaultKmsKeyName": KEY}})
    _upload(http, "two")
    assert http.get(f"{OBJECTS}/two").json()["kmsKeyName"] == f"{KEY}/cryptoKeyVersions/1"


def test_what_is_not_enforced_is_refused(http):
    _upload(http)

    answers = [
        http.get(f"{OBJECTS}/one?softDeleted=true&generation=1"),
        http.patch(f"{OBJECTS}/one", json={"retention": {"mode": "Locked", "retainUntilTime": "2030-01-01T00:00:00Z"}}),
        http.patch(f"{OBJECTS}/one", json={"contexts": {"custom": {"a": {"value": "b"}}}}),
    ]
    assert [answer.status_code for answer in answers] == [501] * 3
