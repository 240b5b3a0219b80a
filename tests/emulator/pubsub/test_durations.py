"""Raw requests to Pub/Sub are held to what its published description says, on both sides of every limit."""

from __future__ import annotations

import httpx
import pytest
from programs import PROJECT
from steered import HANGS

TOPIC = f"projects/{PROJECT}/topics/uploads"
SUBSCRIPTION = f"/v1/projects/{PROJECT}/subscriptions/worker"


@pytest.fixture
def http(cloud):
    with httpx.Client(base_url=f"http://{cloud.host}/", trust_env=False, verify=False, timeout=HANGS) as client:
        client.put(f"/v1/{TOPIC}", json={})
        client.put(SUBSCRIPTION, json={"topic": TOPIC}).raise_for_status()
        yield client


def _publish(http, *messages):
    return http.post(f"/v1/{TOPIC}:publish", json={"messages": list(messages)})


def _pulled(http):
    answer = http.post(f"{SUBSCRIPTION}:pull", json={"maxMessages": 10})
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


@pytest.mark.parametrize(("taken", "refused"), SETTINGS)
def test_settings_of_a_subscription_have_limits(http, taken, refused):
    path = SUBSCRIPTION.replace("worker", "other")

    assert http.put(path, json={"topic": TOPIC, **refused}).status_code == 400
    assert http.put(path, json={"topic": TOPIC, **taken}).status_code == 200
    change = {"subscription": refused, "updateMask": next(iter(refused))}
    assert http.patch(path, json=change).status_code == 400


@pytest.mark.parametrize("duration", ["599s", "2678401s", "10m"])
def test_a_topic_keeps_messages_for_ten_minutes_to_31_days(http, duration):
    body = {"messageRetentionDuration": duration}

    assert http.put(f"/v1/{TOPIC}-2", json=body).status_code == 400
    assert http.patch(f"/v1/{TOPIC}", json={"topic": body, "updateMask": "messageRetentionDuration"}).status_code == 400
    assert http.put(f"/v1/{TOPIC}-2", json={"messageRetentionDuration": "600s"}).status_code == 200


@pytest.mark.parametrize(("seconds", "status"), [(-1, 400), (0, 200), (600, 200), (601, 400)])
def test_a_lease_is_at_most_ten_minutes(http, seconds, status):
    body = {"ackIds": ["x"], "ackDeadlineSeconds": seconds}

    assert http.post(f"{SUBSCRIPTION}:modifyAckDeadline", json=body).status_code == status


def test_what_a_change_leaves_out_is_what_a_subscription_has_by_itself(http):
    fields = ["ackDeadlineSeconds", "expirationPolicy", "messageRetentionDuration", "pushConfig", "state"]
    before = http.get(SUBSCRIPTION).json()
    http.patch(SUBSCRIPTION, json={"subscription": {"ackDeadlineSeconds": 60}, "updateMask": "ack_deadline_seconds"})
    after = http.patch(SUBSCRIPTION, json={"subscription": {}, "updateMask": ",".join(fields)})
    _publish(http, {"data": "eA=="})

    assert after.json() == before
    assert [message["data"] for message in _pulled(http)] == ["eA=="]


@pytest.mark.parametrize("path", [SUBSCRIPTION, f"/v1/{TOPIC}"])
@pytest.mark.parametrize("field", ["nonsense", "topic_", "labels,nonsense"])
def test_a_change_of_an_unknown_field_is_refused(http, path, field):
    answer = http.patch(path, json={"updateMask": field})

    assert answer.status_code == 400
    assert "is not a known" in answer.json()["error"]["message"]


@pytest.mark.parametrize("data", ["+/8=", "+/8", "-_8=", "-_8"])
def test_data_is_base64_of_either_alphabet_and_given_in_the_usual_one(http, data):
    assert _publish(http, {"data": data}).status_code == 200
    assert [message["data"] for message in _pulled(http)] == ["+/8="]


@pytest.mark.parametrize("messages", [
    [None], [{"data": "eA=="}, None], [{"attributes": {"a": None}}], [{"data": "e"}],
    [{"data": "eA==", "orderingKey": "a"}, {"data": "eA=="}],
])  # fmt: skip
def test_what_is_no_message_is_refused(http, messages):
    assert _publish(http, *messages).status_code == 400
    assert _pulled(http) == []


def test_messages_of_one_request_have_one_ordering_key(http):
    assert _publish(http, *[{"data": "eA==", "orderingKey": "a"}] * 2).status_code == 200
