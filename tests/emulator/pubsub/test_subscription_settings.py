"""What subscriptions do with messages: filters, orders, dead letters; and changes and IAM policies."""

from __future__ import annotations

import pytest
from engines.clock import FakeClock
from values.programs import PROJECT

TOPIC = f"projects/{PROJECT}/topics/uploads"
DEAD = f"projects/{PROJECT}/topics/everything"
SUBSCRIPTION = f"/v1/projects/{PROJECT}/subscriptions/worker"
DEAD_WORKER = f"/v1/projects/{PROJECT}/subscriptions/dead-worker"


def _subscribed(http, **body):
    return http.put(SUBSCRIPTION, json={"topic": TOPIC, **body})


def _publish(http, *messages):
    assert http.post(f"/v1/{TOPIC}:publish", json={"messages": list(messages)}).status_code == 200


def _pulled(http, path=SUBSCRIPTION, most=10):
    return http.post(f"{path}:pull", json={"maxMessages": most}).json().get("receivedMessages", [])


def _data(entries):
    return [entry["message"]["data"] for entry in entries]


def _refuse(http, *entries):
    ids = [entry["ackId"] for entry in entries]
    http.post(f"{SUBSCRIPTION}:modifyAckDeadline", json={"ackIds": ids, "ackDeadlineSeconds": 0})


MESSAGES = {
    "none": {},
    "com": {"domain": "com"},
    "org": {"domain": "org", "language": "en"},
    "odd": {"iana.org/language_tag": 'e"n'},
}


@pytest.mark.parametrize(("text", "received"), [
    ("", ["none", "com", "org", "odd"]), ("attributes:domain", ["com", "org"]),
    ('attributes.domain = "com"', ["com"]), ('attributes.domain="COM"', []),
    ('attributes.domain != "com"', ["none", "org", "odd"]), ("NOT attributes:domain", ["none", "odd"]),
    ("-attributes:domain", ["none", "odd"]), ('hasPrefix(attributes.domain, "c")', ["com"]),
    ('hasPrefix(attributes.missing, "")', []),
    ("attributes:domain AND attributes:language", ["org"]),
    ('attributes.domain = "com" OR attributes:language', ["com", "org"]),
    ('NOT (attributes:language OR attributes.domain = "com")', ["none", "odd"]),
    ('attributes:domain AND (attributes:language OR attributes.domain = "com")', ["com", "org"]),
    ('attributes."iana.org/language_tag" = "e\\"n"', ["odd"]), ('attributes:"iana.org/language_tag"', ["odd"]),
])  # fmt: skip
def test_a_filter_chooses_messages_by_their_attributes(http, text, received):
    assert _subscribed(http, filter=text).status_code == 200
    _publish(http, *({"attributes": {"name": name, **attributes}} for name, attributes in MESSAGES.items()))

    assert [entry["message"]["attributes"]["name"] for entry in _pulled(http)] == received


@pytest.mark.parametrize("text", [
    "attributes", "attributes.a", "attributes.a = b", 'attributes.a > "b"', "attributes:a AND", "(attributes:a",
    "attributes:a attributes:b", "attributes:a AND attributes:b OR attributes:c", "data:a", "attributes:a and attributes:b",
    "hasPrefix(attributes.a)", 'attributes.a = "', "attributes:a.b", "x" * 257, f"attributes:{'a' * 246}", "(" * 200,
])  # fmt: skip
def test_a_malformed_filter_is_refused(http, text):
    answer = _subscribed(http, filter=text)

    assert (answer.status_code, http.get(SUBSCRIPTION).status_code) == (400, 404)


def test_a_filter_and_an_order_do_not_change(http):
    _subscribed(http, filter="attributes:a", enableMessageOrdering=True)
    for field in ("filter", "enableMessageOrdering"):
        assert http.patch(SUBSCRIPTION, json={"subscription": {}, "updateMask": field}).status_code == 400
    found = http.get(SUBSCRIPTION).json()

    assert (found["filter"], found["enableMessageOrdering"]) == ("attributes:a", True)


def _ordered(number, key="k"):
    return {"data": f"{number}Q==", "orderingKey": key}


def test_messages_of_one_key_wait_for_earlier_ones(http):
    _subscribed(http, enableMessageOrdering=True)
    for name in ("A", "B", "C"):
        _publish(http, _ordered(name))
    _publish(http, _ordered("D", "other"))
    (first,) = _pulled(http, most=1)

    assert _data([first]) == ["AQ=="]
    assert _data(_pulled(http)) == ["DQ=="], "the others wait for the first"
    http.post(f"{SUBSCRIPTION}:acknowledge", json={"ackIds": [first["ackId"]]})
    second, third = _pulled(http)
    assert _data([second, third]) == ["BQ==", "CQ=="]
    _refuse(http, second)
    assert _data(_pulled(http)) == ["BQ==", "CQ=="], "what follows a refused message is delivered again"


def test_without_an_order_no_message_waits(http):
    _subscribed(http)
    for name in ("A", "B"):
        _publish(http, _ordered(name))

    assert _data([*_pulled(http, most=1), *_pulled(http)]) == ["AQ==", "BQ=="]


def test_a_message_that_was_refused_too_often_goes_to_the_dead_letter_topic(http):
    _subscribed(http, deadLetterPolicy={"deadLetterTopic": DEAD})
    http.put(DEAD_WORKER, json={"topic": DEAD})
    _publish(http, {"data": "eA==", "attributes": {"a": "b"}})
    attempts = []
    for _ in range(5):
        (entry,) = _pulled(http)
        attempts.append(entry["deliveryAttempt"])
        _refuse(http, entry)
    (dead,) = _pulled(http, DEAD_WORKER)

    assert (attempts, _pulled(http)) == ([1, 2, 3, 4, 5], [])
    assert (dead["message"]["data"], "deliveryAttempt" in dead) == ("eA==", False)
    found = dead["message"]["attributes"]
    assert found.pop("CloudPubSubDeadLetterSourceTopicPublishTime").endswith("Z")
    assert found == {
        "a": "b",
        "CloudPubSubDeadLetterSourceDeliveryCount": "5",
        "CloudPubSubDeadLetterSourceSubscription": "worker",
        "CloudPubSubDeadLetterSourceSubscriptionProject": PROJECT,
    }


def test_a_message_whose_leases_ended_too_often_goes_to_the_dead_letter_topic(cloud, http):
    _subscribed(http, deadLetterPolicy={"deadLetterTopic": DEAD, "maxDeliveryAttempts": 6})
    http.put(DEAD_WORKER, json={"topic": DEAD})
    _publish(http, {"data": "eA=="})
    for number in range(6):
        cloud.emulator.clock = FakeClock(1_000.0 + 20 * number)
        assert _data(_pulled(http)) == ["eA=="]
        assert _pulled(http, DEAD_WORKER) == []
    cloud.emulator.clock = FakeClock(1_200.0)

    assert _data(_pulled(http, DEAD_WORKER)) == ["eA=="]
    assert _pulled(http) == []


def test_messages_stay_where_they_are_without_the_dead_letter_topic(http):
    _subscribed(http, deadLetterPolicy={"deadLetterTopic": DEAD})
    http.delete(f"/v1/{DEAD}")
    _publish(http, {"data": "eA=="})
    for _ in range(6):
        (entry,) = _pulled(http)
        _refuse(http, entry)

    assert entry["deliveryAttempt"] == 6


@pytest.mark.parametrize(("policy", "status"), [
    ({"deadLetterTopic": DEAD, "maxDeliveryAttempts": 5}, 200), ({"deadLetterTopic": DEAD, "maxDeliveryAttempts": 100}, 200),
    ({"deadLetterTopic": DEAD, "maxDeliveryAttempts": 4}, 400), ({"deadLetterTopic": DEAD, "maxDeliveryAttempts": 101}, 400),
    ({"deadLetterTopic": "everything"}, 400), ({"maxDeliveryAttempts": 5}, 400),
    ({"deadLetterTopic": f"projects/{PROJECT}/topics/none"}, 404),
])  # fmt: skip
def test_a_dead_letter_policy_has_limits_and_a_topic_that_exists(http, policy, status):
    assert _subscribed(http, deadLetterPolicy=policy).status_code == status


def test_the_update_mask_may_be_in_the_query_and_name_a_part_of_a_field(http):
    push = {"pushEndpoint": "https://example.com/push", "attributes": {"x-goog-version": "v1"}}
    _subscribed(http, pushConfig=push, labels={"a": "b"})
    change = {
        "ackDeadlineSeconds": 300,
        "labels": {"c": "d"},
        "pushConfig": {"attributes": {"x-goog-version": "v1beta1"}},
    }
    answer = http.patch(
        SUBSCRIPTION, params={"updateMask": "ackDeadlineSeconds,push_config.attributes"}, json={"subscription": change}
    )

    assert answer.status_code == 200
    found = http.get(SUBSCRIPTION).json()
    assert (found["ackDeadlineSeconds"], found["labels"]) == (300, {"a": "b"})
    assert found["pushConfig"] == {**push, "attributes": {"x-goog-version": "v1beta1"}}
    http.patch(f"/v1/{TOPIC}?updateMask=labels", json={"topic": {"labels": {"e": "f"}}})
    assert http.get(f"/v1/{TOPIC}").json()["labels"] == {"e": "f"}


def test_attributes_of_pushes_without_a_wrapper_are_shown_by_changes_only(http):
    own = {"a": "b"}
    push = {"pushEndpoint": "https://example.com/push", "noWrapper": {"writeMetadata": True}, "attributes": own}
    created = _subscribed(http, pushConfig=push).json()
    read = http.get(SUBSCRIPTION).json()
    (listed,) = http.get(f"/v1/projects/{PROJECT}/subscriptions").json()["subscriptions"]

    shown = {name: value for name, value in push.items() if name != "attributes"}
    assert created["pushConfig"] == push | {"attributes": own | {"x-goog-version": "v1"}}
    assert read == listed == created | {"pushConfig": shown}


def test_the_version_of_pushes_is_shown_when_pulls_change_but_not_when_they_are_created(http):
    created = _subscribed(http).json()
    changed = http.patch(f"{SUBSCRIPTION}?updateMask=labels", json={"subscription": {"labels": {"a": "b"}}}).json()

    assert created["pushConfig"] == http.get(SUBSCRIPTION).json()["pushConfig"] == {}
    assert changed["pushConfig"] == {"attributes": {"x-goog-version": "v1"}}


BINDING = {"role": "roles/pubsub.publisher", "members": ["serviceAccount:robot@example.com"]}
CONDITION = {"title": "soon", "expression": "request.time < timestamp('2030-01-01T00:00:00Z')"}


@pytest.mark.parametrize("path", [f"/v1/{TOPIC}", SUBSCRIPTION])
def test_a_policy_is_kept_with_its_conditions_and_changed_under_its_etag(http, path):
    _subscribed(http)
    first = http.get(f"{path}:getIamPolicy").json()
    assert first == {"etag": "ACAB"}

    def set_to(**policy):
        return http.post(f"{path}:setIamPolicy", json={"policy": policy})

    second = set_to(bindings=[BINDING], version=3, etag=first["etag"]).json()
    assert (second["bindings"], second["version"]) == ([BINDING], 1)
    assert http.get(f"{path}:getIamPolicy").json() == second
    stale = set_to(bindings=[], etag=first["etag"])
    assert (stale.status_code, stale.json()["error"]["status"]) == (409, "ABORTED")
    assert set_to(bindings=[{**BINDING, "condition": CONDITION}]).status_code == 400
    third = set_to(bindings=[{**BINDING, "condition": CONDITION}], version=3).json()
    assert len({first["etag"], second["etag"], third["etag"]}) == 3
    assert http.get(f"{path}:getIamPolicy").status_code == 400
    shown = http.get(f"{path}:getIamPolicy", params={"options.requestedPolicyVersion": 3}).json()
    assert (shown["version"], shown["bindings"][0]["condition"]) == (3, CONDITION)


def test_the_policy_of_a_topic_is_deleted_with_it(http):
    http.post(f"/v1/{TOPIC}:setIamPolicy", json={"policy": {"bindings": [BINDING]}})
    http.delete(f"/v1/{TOPIC}")
    http.put(f"/v1/{TOPIC}", json={})

    assert http.get(f"/v1/{TOPIC}:getIamPolicy").json() == {"etag": "ACAB"}
    assert http.get("/v1/projects/p/topics/none:getIamPolicy").status_code == 404


def test_the_permissions_that_the_caller_has_are_named(http):
    bindings = [{"permission": "pubsub.topics.get", "members": ["somebody@example.com"]}]
    http.post("/_emulator/policy", json={"bindings": bindings})
    wanted = {"permissions": ["pubsub.topics.get", "pubsub.topics.publish"]}

    assert http.post(f"/v1/{TOPIC}:testIamPermissions", json=wanted).json() == {
        "permissions": ["pubsub.topics.publish"]
    }
