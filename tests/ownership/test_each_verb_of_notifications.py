"""A configuration with our number and another content is somebody else's, as in a bucket that was made anew.

Holds reliability.md: "Three facts decide"; "A name or a label never"; "A number does"; "What is promised".
"""

from __future__ import annotations

import pytest
from engines import driver
from engines.driver import failing, secret
from rolling.rollouts import left_by
from values.programs import BUCKET, NOTIFICATION, PROJECT, notification

ID = f"{BUCKET}/notificationConfigs/1"
CONFIGS = f"b/{BUCKET}/notificationConfigs"
TOPIC = f"//pubsub.googleapis.com/projects/{PROJECT}/topics/uploads"
OURS = {"topic": TOPIC, "payload_format": "JSON_API_V1"}
FULL = {
    "eventTypes": ["OBJECT_FINALIZE", "OBJECT_DELETE"],
    "customAttributes": {"team": "web"},
    "objectNamePrefix": "in/",
    "payloadFormat": "NONE",
}
FULL_AT_GOOGLE = {
    "topic": TOPIC,
    "event_types": ["OBJECT_DELETE", "OBJECT_FINALIZE"],
    "custom_attributes": {"team": "web"},
    "object_name_prefix": "in/",
    "payload_format": "NONE",
}
OTHERS = {
    "topic": {"topic": "//pubsub.googleapis.com/projects/other/topics/audit"},
    "project of the topic": {"topic": "//pubsub.googleapis.com/projects/other/topics/uploads"},
    "events": {"event_types": ["OBJECT_DELETE"]},
    "attributes": {"custom_attributes": {"team": "ops"}},
    "prefix": {"object_name_prefix": ""},
    "payload": {"payload_format": "JSON_API_V1"},
}
"""How a stranger's configuration differs from ours in `FULL`."""


def _make_anew(cloud, **config):
    """Make the bucket anew; somebody creates a configuration in it, which gets the number 1."""
    cloud.make_bucket_anew()
    cloud.make_topics()
    cloud.emulator.store.put("projects/other/topics/uploads", {"name": "projects/other/topics/uploads"})
    cloud.post(f"/storage/v1/{CONFIGS}", config)
    return cloud.get(f"{CONFIGS}/1")


def _warnings(engine):
    return [said for severity, _, said in engine.log.messages if severity == "WARNING"]


@pytest.mark.parametrize("differs", OTHERS)
def test_a_configuration_with_our_number_and_another_content_is_left_alone(engine, cloud, differs):
    created = engine.create(NOTIFICATION, "n", notification(**FULL))
    strangers = _make_anew(cloud, **FULL_AT_GOOGLE | OTHERS[differs])

    assert engine.refresh(created) is None
    with failing() as failed:
        engine.update(created, notification(**FULL))
    assert "no longer exists" in failed[0].message
    assert _warnings(engine) == []
    engine.delete(created)
    assert cloud.get(f"{CONFIGS}/1") == strangers
    assert cloud.calls("storage.notifications.delete") == []
    (warning,) = _warnings(engine)
    assert f"{ID} was not deleted" in warning
    assert f"`gcloud storage buckets notifications delete projects/_/buckets/{ID}`" in warning


def test_the_next_run_creates_our_configuration_beside_the_strangers(engine, cloud):
    engine.create(NOTIFICATION, "n", notification())
    strangers = _make_anew(cloud, **OURS | {"payload_format": "NONE"})
    created = engine.create(NOTIFICATION, "n", notification())

    assert created.id == f"{BUCKET}/notificationConfigs/2"
    engine.delete(created)
    assert cloud.emulator.store.list(CONFIGS) == [strangers]


@pytest.mark.parametrize(
    ("given", "at_google"), [({}, OURS), (FULL, FULL_AT_GOOGLE), ({"topic": "uploads"}, OURS)], ids=str
)
def test_a_configuration_with_our_number_and_our_content_is_ours(engine, cloud, given, at_google):
    created = engine.create(NOTIFICATION, "n", notification(**given))
    _make_anew(cloud, **at_google)

    assert engine.refresh(created) == created
    engine.delete(created)
    assert cloud.get(f"{CONFIGS}/1") is None


def test_the_state_counts_and_not_the_inputs(engine, cloud):
    created = engine.create(NOTIFICATION, "n", notification(**FULL))
    later = driver.Resource(created.urn, created.id, notification(), created.outputs)

    assert engine.refresh(later).id == created.id
    engine.delete(later)
    assert cloud.get(f"{CONFIGS}/1") is None


def test_a_topic_without_its_project_stays_after_the_providers_project_has_changed(engine, cloud):
    created = engine.create(NOTIFICATION, "n", notification(topic="uploads"))
    engine.configure(project="other", emulatorHost=cloud.host)

    assert engine.drift(created) == set()
    engine.delete(created)
    assert cloud.get(f"{CONFIGS}/1") is None


def test_secret_values_are_compared_and_not_shown(engine, cloud):
    given = notification(customAttributes={"token": secret("hunter2-hunter2")})
    created = engine.create(NOTIFICATION, "n", given)

    assert engine.refresh(created) == created
    _make_anew(cloud, **OURS, custom_attributes={"token": "other"})
    assert engine.refresh(created) is None
    engine.delete(created)
    assert "hunter2" not in str(engine.log.messages)


def test_an_import_takes_any_content(engine, cloud):
    _make_anew(cloud, **FULL_AT_GOOGLE)
    found = engine.import_(NOTIFICATION, "n", ID)

    assert found.outputs["objectNamePrefix"] == "in/"
    assert engine.refresh(found) == found
    engine.delete(found)
    assert cloud.get(f"{CONFIGS}/1") is None


def test_a_state_that_a_program_gives_is_not_compared(engine, cloud):
    _make_anew(cloud, **FULL_AT_GOOGLE)
    given = {"bucket": BUCKET}

    assert engine.refresh(driver.Resource(engine.urn(NOTIFICATION, "n"), ID, given, given)).id == ID


def test_a_configuration_whose_creation_was_not_read_is_compared_with_what_was_sent(clocked_engine, cloud):
    cloud.fail("storage.notifications.insert", body='{"id": "1", "topic": "t", "custom_attributes": 3}')
    with failing() as failed:
        clocked_engine.create(NOTIFICATION, "n", notification())
    state = left_by(failed[0], driver.Resource(clocked_engine.urn(NOTIFICATION, "n"), "", {}, {}))
    assert state.id == ID

    strangers = _make_anew(cloud, **FULL_AT_GOOGLE)
    assert clocked_engine.refresh(state) is None
    clocked_engine.delete(state)
    assert cloud.get(f"{CONFIGS}/1") == strangers
    _make_anew(cloud, **OURS)
    assert clocked_engine.refresh(state).id == ID


@pytest.mark.parametrize(
    "shown", ["_deleted-topic_", f"//pubsub.googleapis.com/projects/{PROJECT}/topics/_deleted-topic_"]
)
def test_a_configuration_whose_topic_was_deleted_is_neither_forgotten_nor_deleted(engine, cloud, shown):
    created = engine.create(NOTIFICATION, "n", notification(**FULL))
    cloud.change(f"{CONFIGS}/1", lambda body: body.update(topic=shown))

    assert engine.refresh(created) == created
    engine.delete(created)
    assert cloud.get(f"{CONFIGS}/1") is not None
    assert "or its topic was deleted" in _warnings(engine)[0]


def test_a_strangers_configuration_without_its_topic_is_not_taken_for_ours(engine, cloud):
    created = engine.create(NOTIFICATION, "n", notification(**FULL))
    _make_anew(cloud, **FULL_AT_GOOGLE | OTHERS["events"])
    cloud.change(f"{CONFIGS}/1", lambda body: body.update(topic="_deleted-topic_"))

    assert engine.refresh(created) is None


def test_a_configuration_that_google_describes_without_a_topic_is_an_error(engine, cloud):
    created = engine.create(NOTIFICATION, "n", notification())
    cloud.change(f"{CONFIGS}/1", lambda body: body.pop("topic"))
    for verb in (engine.refresh, engine.delete):
        with failing() as failed:
            verb(created)

        assert "does not say" in failed[0].message
    assert cloud.get(f"{CONFIGS}/1") is not None


def test_a_topic_without_its_project_is_not_that_of_another_project(engine, cloud):
    created = engine.create(NOTIFICATION, "n", notification(topic="uploads"))
    strangers = _make_anew(
        cloud, topic="//pubsub.googleapis.com/projects/other/topics/uploads", payload_format="JSON_API_V1"
    )
    assert engine.refresh(created) is None
    engine.delete(created)

    assert cloud.get(f"{CONFIGS}/1") == strangers
    assert "was not deleted" in _warnings(engine)[-1]


def test_the_topic_stays_that_of_the_project_of_its_creation(engine, cloud):
    created = engine.create(NOTIFICATION, "n", notification(topic="uploads"))
    with driver.engine(project="later", emulatorHost=cloud.host) as later:
        assert later.refresh(created) is not None
        later.delete(created)

    assert cloud.get(f"{CONFIGS}/1") is None
