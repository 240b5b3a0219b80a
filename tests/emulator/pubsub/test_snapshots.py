"""Snapshots, seeks, and how long messages are kept."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest
from engines.clock import FakeClock
from values.programs import PROJECT

TOPIC = f"projects/{PROJECT}/topics/uploads"
OTHER = f"projects/{PROJECT}/topics/everything"
WORKER = f"projects/{PROJECT}/subscriptions/worker"
SECOND = f"projects/{PROJECT}/subscriptions/second"
SNAPSHOT = f"projects/{PROJECT}/snapshots/before"
HOUR, DAY = 3600, 86_400
START = 1_000_000_000.0


@pytest.fixture
def clock(cloud):
    cloud.emulator.clock = FakeClock(START)
    return cloud.emulator.clock


def _subscribed(http, name=WORKER, **body):
    answer = http.put(f"/v1/{name}", json={"topic": TOPIC, **body})
    assert answer.status_code == 200
    return answer.json()


def _snapshot(http, source=WORKER, **body):
    return http.put(f"/v1/{SNAPSHOT}", json={"subscription": source, **body})


def _publish(http, *texts, topic=TOPIC, **more):
    messages = [{"data": base64.b64encode(text.encode()).decode(), **more} for text in texts]
    assert http.post(f"/v1/{topic}:publish", json={"messages": messages}).status_code == 200


def _pulled(http, name=WORKER):
    answer = http.post(f"/v1/{name}:pull", json={"maxMessages": 100})
    return answer.json().get("receivedMessages", [])


def _texts(entries):
    return [base64.b64decode(entry["message"]["data"]).decode() for entry in entries]


def _acknowledged(http, name=WORKER, most=100):
    """Acknowledge what is due; return the texts."""
    entries = http.post(f"/v1/{name}:pull", json={"maxMessages": most}).json().get("receivedMessages", [])
    if entries:
        ids = [entry["ackId"] for entry in entries]
        assert http.post(f"/v1/{name}:acknowledge", json={"ackIds": ids}).status_code == 200
    return _texts(entries)


def _seek(http, name=WORKER, **target):
    return http.post(f"/v1/{name}:seek", json=target)


def _time(seconds):
    return datetime.fromtimestamp(START + seconds, UTC).isoformat()


def test_a_seek_to_a_snapshot_brings_back_what_was_unread_then_or_published_later(http):
    _subscribed(http)
    _publish(http, "read", "unread")
    assert _acknowledged(http, most=1) == ["read"]
    made = _snapshot(http).json()
    _publish(http, "later")
    assert _acknowledged(http) == ["unread", "later"]
    answers = [_seek(http, snapshot=SNAPSHOT) for _ in range(2)]

    assert made["topic"] == TOPIC
    assert [(answer.status_code, answer.json()) for answer in answers] == [(200, {})] * 2
    assert _acknowledged(http) == ["unread", "later"]
    assert _seek(http, snapshot=SNAPSHOT).status_code == 200
    assert _texts(_pulled(http)) == ["unread", "later"]


def test_a_seek_to_a_snapshot_marks_what_was_read_then_in_another_subscription(http):
    _subscribed(http)
    _subscribed(http, SECOND, filter="NOT attributes:hidden")
    _publish(http, "read", "unread")
    _acknowledged(http, most=1)
    _snapshot(http)
    _publish(http, "hidden", attributes={"hidden": ""})
    assert _seek(http, SECOND, snapshot=SNAPSHOT).status_code == 200

    assert _texts(_pulled(http, SECOND)) == ["unread"]


def test_a_seek_leaves_leases_as_they_are(http):
    _subscribed(http)
    _publish(http, "leased")
    _snapshot(http)
    (entry,) = _pulled(http)
    _seek(http, snapshot=SNAPSHOT)

    assert _pulled(http) == []
    assert http.post(f"/v1/{WORKER}:acknowledge", json={"ackIds": [entry["ackId"]]}).status_code == 200
    _seek(http, snapshot=SNAPSHOT)
    assert _texts(_pulled(http)) == ["leased"]


@pytest.mark.parametrize(("retained", "back"), [(True, ["two", "three"]), (False, [])])
def test_a_seek_to_a_time_brings_back_acknowledged_messages_if_they_are_retained(http, clock, retained, back):
    _subscribed(http, retainAckedMessages=retained)
    for text in ("one", "two", "three"):
        _publish(http, text)
        clock.advance(60)
    assert _acknowledged(http) == ["one", "two", "three"]
    assert _seek(http, time=_time(60)).status_code == 200

    assert _texts(_pulled(http)) == back
    assert http.get("/_emulator/resources").json().get("acknowledged", 0) == (1 if retained else 0)


def test_a_seek_ahead_acknowledges_what_was_published_before(http, clock):
    _subscribed(http, retainAckedMessages=True)
    _publish(http, "one")
    clock.advance(60)
    _publish(http, "two")
    _seek(http, time=_time(60))
    assert _acknowledged(http) == ["two"]
    _seek(http, time="2001-09-09T03:46:40.000+02:00")  # the start, with an offset and a fraction
    assert _acknowledged(http) == ["one", "two"]


def test_messages_are_kept_as_long_as_the_subscription_says(http, clock):
    _subscribed(http, messageRetentionDuration="3600s", retainAckedMessages=True)
    _publish(http, "read")
    assert _acknowledged(http) == ["read"]
    clock.advance(600)
    _publish(http, "unread")
    clock.advance(HOUR - 600)
    _seek(http, time=_time(0))
    assert _texts(_pulled(http)) == ["read", "unread"]
    clock.advance(300)
    assert _texts(_pulled(http)) == ["unread"]
    clock.advance(400)
    _seek(http, time=_time(0))
    assert _pulled(http) == []


def test_nothing_acknowledged_is_kept_once_the_subscription_does_not_retain_it(http, clock):
    _subscribed(http, retainAckedMessages=True)
    _publish(http, "one")
    _acknowledged(http)
    for retains in (False, True):
        clock.advance(1)
        change = {"subscription": {"retainAckedMessages": retains}, "updateMask": "retainAckedMessages"}
        assert http.patch(f"/v1/{WORKER}", json=change).status_code == 200
        _seek(http, time=_time(0))

    assert _pulled(http) == []


def test_a_topic_keeps_messages_for_subscriptions_that_come_later(http, clock):
    change = {"topic": {"messageRetentionDuration": "7200s"}, "updateMask": "messageRetentionDuration"}
    assert http.patch(f"/v1/{TOPIC}", json=change).status_code == 200
    _publish(http, "one")
    clock.advance(HOUR)
    _publish(http, "two")
    made = _subscribed(http, messageRetentionDuration="600s")
    assert (made["topicMessageRetentionDuration"], _pulled(http)) == ("7200s", [])
    assert http.get(f"/v1/{WORKER}").json() == made
    _seek(http, time=_time(0))
    assert _acknowledged(http) == ["one", "two"]
    clock.advance(HOUR + 1)
    _seek(http, time=_time(0))
    assert _acknowledged(http) == ["two"]
    change = {"topic": {}, "updateMask": "messageRetentionDuration"}
    http.patch(f"/v1/{TOPIC}", json=change)
    _seek(http, time=_time(0))
    assert _pulled(http) == []
    assert "topicMessageRetentionDuration" not in http.get(f"/v1/{WORKER}").json()


def test_a_snapshot_keeps_messages_longer_than_its_subscription(http, clock):
    _subscribed(http, messageRetentionDuration="600s")
    _publish(http, "one")
    _snapshot(http)
    clock.advance(HOUR)
    assert _pulled(http) == []
    _seek(http, snapshot=SNAPSHOT)

    assert _texts(_pulled(http)) == ["one"]


def test_a_snapshot_expires_seven_days_after_its_oldest_message(http, clock):
    _subscribed(http)
    _publish(http, "one")
    clock.advance(3 * DAY)
    made = _snapshot(http).json()
    assert made["expireTime"] == _time(7 * DAY).replace("+00:00", ".000Z")
    clock.advance(4 * DAY - 1)
    assert http.get(f"/v1/{SNAPSHOT}").json() == made
    clock.advance(1)

    assert http.get(f"/v1/{SNAPSHOT}").status_code == 404
    assert _seek(http, snapshot=SNAPSHOT).status_code == 404
    assert http.get(f"/v1/projects/{PROJECT}/snapshots").json() == {}
    assert http.get(f"/v1/{TOPIC}/snapshots").json() == {}
    assert http.get("/_emulator/resources").json()["messages"] == 1, "that of the subscription"


def test_a_snapshot_that_would_expire_within_an_hour_is_refused(http, clock):
    _subscribed(http, messageRetentionDuration="604800s")
    _publish(http, "one")
    clock.advance(7 * DAY - HOUR + 1)
    answer = _snapshot(http)

    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "FAILED_PRECONDITION")


@pytest.mark.parametrize(("seconds", "status"), [(0, 400), (1, 200), (7 * DAY, 200), (7 * DAY + 1, 400), (None, 400)])
def test_the_end_of_a_snapshot_changes_within_limits(http, clock, seconds, status):
    _subscribed(http)
    before = _snapshot(http).json()
    snapshot = {} if seconds is None else {"expireTime": _time(seconds)}
    answer = http.patch(f"/v1/{SNAPSHOT}", json={"snapshot": snapshot, "updateMask": "expireTime"})

    assert answer.status_code == status
    kept = http.get(f"/v1/{SNAPSHOT}").json()
    assert kept == (answer.json() if status == 200 else before)
    assert status != 200 or kept["expireTime"] == _time(seconds).replace("+00:00", ".000Z")


def test_snapshots_are_listed_in_pages_and_made_once(http):
    _subscribed(http)
    assert _snapshot(http, labels={"a": "b"}, tags={"1/a": "b"}).json()["labels"] == {"a": "b"}
    assert _snapshot(http).status_code == 409
    http.put(f"/v1/projects/{PROJECT}/snapshots/second", json={"subscription": WORKER})
    first = http.get(f"/v1/projects/{PROJECT}/snapshots?pageSize=1").json()
    rest = http.get(f"/v1/projects/{PROJECT}/snapshots?pageSize=1&pageToken={first['nextPageToken']}").json()
    names = http.get(f"/v1/{TOPIC}/snapshots").json()["snapshots"]

    assert [item["name"] for item in (*first["snapshots"], *rest["snapshots"])] == names
    assert names == [SNAPSHOT, f"projects/{PROJECT}/snapshots/second"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400), ({"subscription": "worker"}, 400), ({"subscription": f"projects/{PROJECT}/subscriptions/none"}, 404),
        ({"subscription": WORKER, "topic": TOPIC}, 400),
    ],
)  # fmt: skip
def test_a_snapshot_needs_a_subscription_that_exists(http, body, status):
    _subscribed(http)
    answer = http.put(f"/v1/{SNAPSHOT}", json=body)

    assert (answer.status_code, http.get(f"/v1/{SNAPSHOT}").status_code) == (status, 404)


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ({}, 400), ({"time": "2026-01-01T00:00:00Z", "snapshot": SNAPSHOT}, 400), ({"time": "yesterday"}, 400),
        ({"time": "2026-01-01"}, 400), ({"time": "2026-01-01T00:00:00"}, 400), ({"snapshot": "before"}, 400),
        ({"snapshot": TOPIC}, 400), ({"snapshot": f"projects/{PROJECT}/snapshots/none"}, 404),
    ],
)  # fmt: skip
def test_a_wrong_seek_changes_nothing(http, target, status):
    _subscribed(http)
    _publish(http, "one")
    _snapshot(http)

    assert _seek(http, **target).status_code == status
    assert _texts(_pulled(http)) == ["one"]


def test_a_seek_needs_a_snapshot_of_the_same_topic(http):
    _subscribed(http)
    http.put(f"/v1/{SECOND}", json={"topic": OTHER})
    _snapshot(http)
    assert _seek(http, SECOND, snapshot=SNAPSHOT).status_code == 400
    for topic in (TOPIC, OTHER):
        http.delete(f"/v1/{topic}")

    assert http.get(f"/v1/{SNAPSHOT}").json()["topic"] == "_deleted-topic_"
    assert _seek(http, snapshot=SNAPSHOT).status_code == 400


def test_a_detached_subscription_has_no_snapshots_and_no_seeks(http):
    _subscribed(http)
    http.post(f"/v1/{WORKER}:detach", json={})

    for answer in (_snapshot(http), _seek(http, time="2026-01-01T00:00:00Z")):
        assert (answer.status_code, answer.json()["error"]["status"]) == (400, "FAILED_PRECONDITION")


def test_everything_that_was_kept_is_deleted_with_its_holder(http):
    change = {"topic": {"messageRetentionDuration": "7200s"}, "updateMask": "messageRetentionDuration"}
    http.patch(f"/v1/{TOPIC}", json=change)
    _subscribed(http, retainAckedMessages=True)
    _publish(http, "one")
    _snapshot(http)
    _acknowledged(http)
    before = http.get("/_emulator/resources").json()
    for name in (SNAPSHOT, WORKER, TOPIC):
        assert http.delete(f"/v1/{name}").status_code == 200
    after = http.get("/_emulator/resources").json()

    assert (before["messages"], before["acknowledged"]) == (2, 1)
    assert not {"messages", "acknowledged", "snapshots"} & set(after)
