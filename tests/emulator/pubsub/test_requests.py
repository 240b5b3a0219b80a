"""Requests to Pub/Sub, on both sides of every limit in its reference."""

from __future__ import annotations

import pytest
from values.programs import PROJECT

TOPIC = f"projects/{PROJECT}/topics/uploads"
SUBSCRIPTION = f"/v1/projects/{PROJECT}/subscriptions/worker"


@pytest.fixture
def api(http):
    http.put(f"/v1/{TOPIC}", json={})
    http.put(SUBSCRIPTION, json={"topic": TOPIC}).raise_for_status()
    return http


def _publish(api, *messages):
    return api.post(f"/v1/{TOPIC}:publish", json={"messages": list(messages)})


def _pulled(api):
    answer = api.post(f"{SUBSCRIPTION}:pull", json={"maxMessages": 10})
    return [item["message"] for item in answer.json().get("receivedMessages", ())]


SETTINGS = [
    ({"retryPolicy": {"minimumBackoff": "0s", "maximumBackoff": "600s"}}, {"retryPolicy": {"minimumBackoff": "-1s"}}),
    ({"retryPolicy": {"minimumBackoff": "1.5s"}}, {"retryPolicy": {"maximumBackoff": "600.1s"}}),
    ({"retryPolicy": {}}, {"retryPolicy": {"minimumBackoff": "soon"}}),
    ({"messageRetentionDuration": "600s"}, {"messageRetentionDuration": "599s"}),
    ({"messageRetentionDuration": "2678400s"}, {"messageRetentionDuration": "2678401s"}),
    ({"expirationPolicy": {"ttl": "86400s"}}, {"expirationPolicy": {"ttl": "86399s"}}),
    ({"topic": TOPIC}, {"topic": SUBSCRIPTION.removeprefix("/v1/")}),
]


@pytest.mark.parametrize(("accepted", "refused"), SETTINGS)
def test_settings_of_a_subscription_have_limits(api, accepted, refused):
    path = SUBSCRIPTION.replace("worker", "other")

    assert api.put(path, json={"topic": TOPIC, **refused}).status_code == 400
    assert api.put(path, json={"topic": TOPIC, **accepted}).status_code == 200
    change = {"subscription": refused, "updateMask": next(iter(refused))}
    assert api.patch(path, json=change).status_code == 400


@pytest.mark.parametrize("duration", ["599s", "2678401s", "10m"])
def test_a_topic_keeps_messages_for_ten_minutes_to_31_days(api, duration):
    body = {"messageRetentionDuration": duration}

    assert api.put(f"/v1/{TOPIC}-2", json=body).status_code == 400
    assert api.patch(f"/v1/{TOPIC}", json={"topic": body, "updateMask": "messageRetentionDuration"}).status_code == 400
    assert api.put(f"/v1/{TOPIC}-2", json={"messageRetentionDuration": "600s"}).status_code == 200


@pytest.mark.parametrize(("seconds", "status"), [(-1, 400), (0, 200), (600, 200), (601, 400)])
def test_a_lease_is_at_most_ten_minutes(api, seconds, status):
    body = {"ackIds": ["x"], "ackDeadlineSeconds": seconds}

    assert api.post(f"{SUBSCRIPTION}:modifyAckDeadline", json=body).status_code == status


def test_fields_that_a_change_leaves_out_get_their_defaults(api):
    fields = ["ackDeadlineSeconds", "expirationPolicy", "messageRetentionDuration", "pushConfig", "state"]
    before = api.get(SUBSCRIPTION).json()
    api.patch(SUBSCRIPTION, json={"subscription": {"ackDeadlineSeconds": 60}, "updateMask": "ack_deadline_seconds"})
    after = api.patch(SUBSCRIPTION, json={"subscription": {}, "updateMask": ",".join(fields)})
    _publish(api, {"data": "eA=="})

    assert after.json() == {**before, "pushConfig": {"attributes": {"x-goog-version": "v1"}}}
    assert api.get(SUBSCRIPTION).json() == before
    assert [message["data"] for message in _pulled(api)] == ["eA=="]


@pytest.mark.parametrize("path", [SUBSCRIPTION, f"/v1/{TOPIC}"])
@pytest.mark.parametrize("field", ["nonsense", "topic_", "labels,nonsense"])
def test_a_change_of_an_unknown_field_is_refused(api, path, field):
    answer = api.patch(path, json={"updateMask": field})

    assert answer.status_code == 400
    assert "is not a known" in answer.json()["error"]["message"]


@pytest.mark.parametrize("data", ["+/8=", "+/8", "-_8=", "-_8"])
def test_data_is_base64_of_either_alphabet_and_kept_in_the_standard_one(api, data):
    assert _publish(api, {"data": data}).status_code == 200
    assert [message["data"] for message in _pulled(api)] == ["+/8="]


@pytest.mark.parametrize("messages", [
    [None], [{"data": "eA=="}, None], [{"attributes": {"a": None}}], [{"data": "e"}],
    [{"data": "eA==", "orderingKey": "a"}, {"data": "eA=="}],
])  # fmt: skip
def test_invalid_messages_are_refused(api, messages):
    assert _publish(api, *messages).status_code == 400
    assert _pulled(api) == []


def test_messages_of_one_request_have_one_ordering_key(api):
    assert _publish(api, *[{"data": "eA==", "orderingKey": "a"}] * 2).status_code == 200
