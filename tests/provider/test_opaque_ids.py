"""IDs that Google assigns may have any form; resources can be read, imported and deleted by them."""

from __future__ import annotations

import json

import driver
import pytest
from driver import failing
from programs import BUCKET, KEY, NOTIFICATION, PROJECT, TEMPLATE, USER, key, notification, template

IDS = ["7", "abc-7", "0b5e.XY_z", "two words", "50%", "what?x=1#y", "Gr\u00fc\u00dfe", "a%2Fb"]
NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE


def _notification(engine, cloud, own_id):
    """Create a notification to which Google assigns this ID."""
    item = {
        "kind": "storage#notification",
        "id": own_id,
        "topic": f"//pubsub.googleapis.com/projects/{PROJECT}/topics/uploads",
        "payload_format": "JSON_API_V1",
    }
    cloud.fail("storage.notifications.insert", body=json.dumps(item))
    created = engine.create(NOTIFICATION, "n", notification())
    cloud.emulator.store.put(f"b/{BUCKET}/notificationConfigs/{own_id}", item)
    return created


@pytest.mark.parametrize("own_id", IDS)
def test_a_notification_may_have_any_id(engine, cloud, own_id):
    created = _notification(engine, cloud, own_id)

    assert created.id == f"{BUCKET}/notificationConfigs/{own_id}"
    assert engine.refresh(created) == created
    assert engine.list(NOTIFICATION, {"bucket": BUCKET})[0] == [created.id]
    for form in (created.id, f"projects/_/buckets/{created.id}", f"b/{created.id}"):
        found = engine.import_(NOTIFICATION, "n", form)
        assert found.id == created.id
        assert engine.diff(found, notification()).changes == NO_CHANGE
    engine.delete(created)
    assert cloud.get(f"b/{BUCKET}/notificationConfigs/{own_id}") is None


def test_a_notification_is_imported_by_its_percent_encoded_link(engine, cloud):
    created = _notification(engine, cloud, "two words")
    link = f"https://www.googleapis.com/storage/v1/b/{BUCKET}/notificationConfigs/two%20words"

    assert engine.import_(NOTIFICATION, "n", link).id == created.id


@pytest.mark.parametrize("wrong", ["", BUCKET, f"{BUCKET}/notificationConfigs/", "/notificationConfigs/1"])
def test_an_incomplete_id_is_refused_with_the_accepted_forms(engine, wrong):
    with failing() as failed:
        engine.import_(NOTIFICATION, "n", wrong)

    assert "BUCKET/notificationConfigs/ID" in failed[0].message


@pytest.mark.parametrize("fingerprint", ["SHA256:abc+def=", "0a", "Z9"])
def test_a_key_may_have_any_fingerprint(engine, cloud, fingerprint):
    created = engine.create(KEY, "k", key())
    stored = cloud.get(created.id)
    name = f"users/{USER}/sshPublicKeys/{fingerprint}"
    cloud.emulator.store.put(name, {**stored, "fingerprint": fingerprint, "name": name})
    found = engine.import_(KEY, "k", name)

    assert found.outputs["fingerprint"] == fingerprint
    assert engine.refresh(found) == found
    engine.delete(found)
    assert cloud.get(name) is None


def test_a_template_may_have_any_numeric_id(engine, cloud):
    created = engine.create(TEMPLATE, "web", {"name": "web", **template()})
    cloud.change(created.id, lambda body: body.update(id="x-7"))
    taken = engine.import_(TEMPLATE, "web", f"{created.id}?uniqueId=x-7")

    assert taken.outputs["numericId"] == "x-7"
    engine.delete(created)
    assert cloud.get(created.id) is not None, "another template has taken the name"
    engine.delete(taken)
    assert cloud.get(created.id) is None
