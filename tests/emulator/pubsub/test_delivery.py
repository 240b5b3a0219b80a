"""Delivery to push endpoints."""

from __future__ import annotations

import asyncio
import base64
import socket

import httpx
from engines.clock import HANGS
from google.oauth2 import id_token
from google.protobuf import field_mask_pb2
from google.pubsub_v1 import types
from servers.google_clients import PUSHER, relocated
from servers.receiving import endpoint
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.responses import Response
from starlette.routing import Route
from values.programs import PROJECT
from workspace import emulator

TOPIC = f"projects/{PROJECT}/topics/uploads"
SUBSCRIPTION = f"projects/{PROJECT}/subscriptions/worker"


def _recorder(*statuses):
    """Answer with these statuses, then with 204, and keep headers and body of every push."""
    answers = iter(statuses)

    def app(_url, received):
        async def take(request):
            received.put((dict(request.headers), await request.json()))
            return Response(status_code=next(answers, 204))

        return Starlette(routes=[Route("/push", take, methods=["POST"])])

    return app


def _pushing(subscriber, url, name="worker", **token):
    oidc = types.PushConfig.OidcToken(service_account_email=PUSHER, **token)
    config = types.PushConfig(push_endpoint=url, oidc_token=oidc)
    path = f"projects/{PROJECT}/subscriptions/{name}"
    return subscriber.create_subscription(request={"name": path, "topic": TOPIC, "push_config": config})


def _publish(publisher, data):
    publisher.publish(topic=TOPIC, messages=[types.PubsubMessage(data=data)])


def test_a_push_is_signed_and_google_auth_agrees(cloud, publisher, subscriber):
    with endpoint(_recorder()) as receiver:
        _pushing(subscriber, receiver.url)
        publisher.publish(topic=TOPIC, messages=[types.PubsubMessage(data="Grüße".encode(), attributes={"a": "b"})])
        headers, body = receiver.next()
    scheme, token = headers["authorization"].split(" ")
    claims = id_token.verify_oauth2_token(token, relocated(cloud), audience=receiver.url)

    assert scheme == "Bearer"
    assert (claims["email"], claims["email_verified"], claims["iss"]) == (PUSHER, True, "https://accounts.google.com")
    assert claims["sub"].isdigit()
    assert claims["exp"] - claims["iat"] == 3600
    assert body["subscription"] == SUBSCRIPTION
    assert base64.b64decode(body["message"]["data"]).decode() == "Grüße"
    assert body["message"]["attributes"] == {"a": "b"}


def test_the_audience_that_is_set_replaces_the_endpoint(cloud, publisher, subscriber):
    with endpoint(_recorder()) as receiver:
        _pushing(subscriber, receiver.url, audience="my-audience")
        publisher.publish(topic=TOPIC, messages=[types.PubsubMessage(data=b"x")])
        headers, _ = receiver.next()

    assert id_token.verify_oauth2_token(headers["authorization"].split()[1], relocated(cloud), audience="my-audience")


def test_a_message_is_pushed_again_until_it_is_acknowledged(cloud, publisher, subscriber):
    with endpoint(_recorder(500, 400, 201)) as receiver:
        _pushing(subscriber, receiver.url)
        publisher.publish(topic=TOPIC, messages=[types.PubsubMessage(data=b"x")])
        pushed = [receiver.next()[1]["message"]["messageId"] for _ in range(3)]
        _publish(publisher, b"y")
        pushed_then = receiver.next()[1]["message"]["data"]
        deliveries = cloud.deliveries(4)

    attempts = [(entry["attempt"], entry["status"]) for entry in deliveries if entry["messageId"] == pushed[0]]
    assert len(set(pushed)) == 1
    assert attempts == [(1, 500), (2, 400), (3, 201)]
    assert base64.b64decode(pushed_then) == b"y"


def test_a_message_is_delivered_whenever_it_is_published(cloud, publisher, subscriber):
    with endpoint(_recorder()) as receiver:
        _pushing(subscriber, receiver.url)
        for number in range(30):
            publisher.publish(topic=TOPIC, messages=[types.PubsubMessage(data=str(number).encode())])
            assert base64.b64decode(receiver.next()[1]["message"]["data"]) == str(number).encode()
            assert [entry["status"] for entry in cloud.deliveries(number + 1)] == [204] * (number + 1)


class _Gate:
    """Keeps answers back until it is opened; a receiver that ends meanwhile is not held up."""

    def __init__(self):
        self._open = asyncio.Event()

    def enter(self):
        self._loop = asyncio.get_running_loop()

    async def passed(self):
        await self._open.wait()

    def open(self):
        self._loop.call_soon_threadsafe(self._open.set)


def _waiting_for(gate, data, status):
    """Answer one message only once the gate is open, with this status; tell what arrives, and when it was answered."""

    def app(_url, received):
        async def take(request):
            found = base64.b64decode((await request.json())["message"]["data"])
            gate.enter()
            received.put(found)
            if found != data:
                return Response(status_code=204)
            await gate.passed()
            return Response(status_code=status, background=BackgroundTask(received.put, "answered"))

        return Starlette(routes=[Route("/push", take, methods=["POST"])])

    return app


def test_a_receiver_that_does_not_answer_does_not_delay_others(cloud, publisher, subscriber):
    gate = _Gate()
    with endpoint(_waiting_for(gate, b"x", 204)) as first, endpoint(_recorder()) as second:
        _pushing(subscriber, first.url)
        _publish(publisher, b"x")
        first.next()
        _pushing(subscriber, second.url, name="other")
        _publish(publisher, b"y")
        _, body = second.next()
        assert base64.b64decode(body["message"]["data"]) == b"y"
        gate.open()

        assert [entry["status"] for entry in cloud.deliveries(3)] == [204] * 3


def test_a_push_under_way_at_a_reset_is_not_listed_after_it(cloud, publisher, subscriber):
    gate = _Gate()
    with endpoint(_waiting_for(gate, b"old", 500)) as receiver:
        _pushing(subscriber, receiver.url)
        _publish(publisher, b"old")
        assert receiver.next() == b"old"
        cloud.reset()
        publisher.create_topic(name=TOPIC)
        _pushing(subscriber, receiver.url)
        _publish(publisher, b"new")
        assert receiver.next() == b"new"
        gate.open()
        assert receiver.next() == "answered"
        _publish(publisher, b"last")
        assert receiver.next() == b"last"

        assert [entry["status"] for entry in cloud.deliveries(2)] == [204, 204]


def test_a_subscription_turns_from_pull_to_push_and_back(publisher, subscriber):
    subscriber.create_subscription(request={"name": SUBSCRIPTION, "topic": TOPIC})
    with endpoint(_recorder()) as receiver:
        publisher.publish(topic=TOPIC, messages=[types.PubsubMessage(data=b"waiting")])
        subscriber.modify_push_config(
            subscription=SUBSCRIPTION, push_config=types.PushConfig(push_endpoint=receiver.url)
        )
        headers, body = receiver.next()
        assert "authorization" not in headers
        assert base64.b64decode(body["message"]["data"]) == b"waiting"
    wanted = types.Subscription(name=SUBSCRIPTION, push_config=types.PushConfig(), ack_deadline_seconds=20)
    subscriber.update_subscription(
        subscription=wanted, update_mask=field_mask_pb2.FieldMask(paths=["push_config", "ack_deadline_seconds"])
    )

    assert subscriber.get_subscription(subscription=SUBSCRIPTION).ack_deadline_seconds == 20
    assert not subscriber.pull(subscription=SUBSCRIPTION, max_messages=1).received_messages
    subscriber.delete_subscription(subscription=SUBSCRIPTION)
    assert not list(subscriber.list_subscriptions(project=f"projects/{PROJECT}"))


def _publish_for(host, url):
    """Publish a message for an endpoint; return what became of the first attempt to push it."""
    topic = f"projects/{PROJECT}/topics/uploads"
    with httpx.Client(base_url=f"http://{host}", trust_env=False, timeout=HANGS) as client:
        client.put(f"/v1/{topic}", json={})
        body = {"topic": topic, "pushConfig": {"pushEndpoint": url}}
        client.put(f"/v1/projects/{PROJECT}/subscriptions/worker", json=body)
        client.post(f"/v1/{topic}:publish", json={"messages": [{"data": "eA=="}]})
        return client.get("/_emulator/deliveries?atLeast=1").json()[0]["error"]


def test_messages_that_waited_when_the_emulator_stopped_are_pushed_after_the_next_start(tmp_path):
    with socket.socket() as receiver:
        receiver.bind(("127.0.0.1", 0))
        with emulator("--data", str(tmp_path / "data")) as host:
            url = f"http://127.0.0.1:{receiver.getsockname()[1]}/push"
            assert _publish_for(host, url) == "ConnectionRefusedError"
        receiver.listen()
        receiver.settimeout(HANGS)
        with emulator("--data", str(tmp_path / "data")), receiver.accept()[0] as connection:
            assert connection.recv(5) == b"POST "


AT_ONCE = {"minimumBackoff": "0s", "maximumBackoff": "0s"}


def test_a_push_that_fails_too_often_goes_to_the_dead_letter_topic(cloud, http):
    dead = f"projects/{PROJECT}/topics/everything"
    http.put(f"/v1/projects/{PROJECT}/subscriptions/dead", json={"topic": dead})
    with endpoint(_recorder(*[500] * 5)) as receiver:
        policy = {"deadLetterPolicy": {"deadLetterTopic": dead, "maxDeliveryAttempts": 5}, "retryPolicy": AT_ONCE}
        push = {"pushConfig": {"pushEndpoint": receiver.url}}
        assert http.put(f"/v1/{SUBSCRIPTION}", json={"topic": TOPIC, **policy, **push}).status_code == 200
        http.post(f"/v1/{TOPIC}:publish", json={"messages": [{"data": "eA=="}]})
        attempts = [receiver.next()[1]["deliveryAttempt"] for _ in range(5)]
        cloud.deliveries(5)
    pulled = http.post(f"/v1/projects/{PROJECT}/subscriptions/dead:pull", json={"maxMessages": 10}).json()

    assert attempts == [1, 2, 3, 4, 5]
    (found,) = (entry["message"] for entry in pulled["receivedMessages"])
    assert (found["data"], found["attributes"]["CloudPubSubDeadLetterSourceDeliveryCount"]) == ("eA==", "5")


def test_a_seek_lets_acknowledged_messages_be_pushed_again(cloud, http):
    with endpoint(_recorder()) as receiver:
        settings = {"retainAckedMessages": True, "pushConfig": {"pushEndpoint": receiver.url}}
        http.put(f"/v1/{SUBSCRIPTION}", json={"topic": TOPIC, **settings}).raise_for_status()
        http.post(f"/v1/{TOPIC}:publish", json={"messages": [{"data": "eA=="}]})
        first = receiver.next()[1]["message"]
        cloud.deliveries(1)
        http.post(f"/v1/{SUBSCRIPTION}:seek", json={"time": "2020-01-01T00:00:00Z"}).raise_for_status()
        again = receiver.next()[1]["message"]

    assert again == first


def test_messages_of_one_key_are_pushed_one_after_the_other(http):
    with endpoint(_recorder(500, 500)) as receiver:
        settings = {"enableMessageOrdering": True, "retryPolicy": AT_ONCE}
        push = {"pushConfig": {"pushEndpoint": receiver.url}}
        http.put(f"/v1/{SUBSCRIPTION}", json={"topic": TOPIC, **settings, **push}).raise_for_status()
        messages = [{"data": data, "orderingKey": "k"} for data in ("AQ==", "Ag==", "Aw==")]
        http.post(f"/v1/{TOPIC}:publish", json={"messages": messages})
        pushed = [receiver.next()[1]["message"]["data"] for _ in range(5)]

    assert pushed == ["AQ==", "AQ==", "AQ==", "Ag==", "Aw=="]
