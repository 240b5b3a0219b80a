"""A cancellation is heard at once, however many calls are under way, and ends every wait of a call for another one."""

from __future__ import annotations

import queue

import driver
import pytest
from clock import HANGS
from driver import failed, failing
from google.protobuf import empty_pb2
from programs import NOTIFICATION, PROJECT, TEMPLATE, notification, template

from gcpx.gcp.request import MOST_AT_ONCE
from gcpx.provider import Provider

CALLS = MOST_AT_ONCE + 44
"""More calls than connections, so that some wait for a free connection."""


@pytest.fixture
def patient(cloud):
    """An engine whose plugin does not give up requests that change something, not even after a cancellation."""
    provider = Provider()
    with driver.engine(provider, project=PROJECT, emulatorHost=cloud.host) as made:
        vars(provider.resource(TEMPLATE))["_google"].grace = HANGS
        yield made
        cloud.interceptor.drain()


def _begin(engine, token, name, inputs):
    """Begin a creation; return it as a future."""
    properties = driver.struct(engine.checked(token, name, inputs))
    return engine.stub.Create.future(driver.rpc.CreateRequest(urn=engine.urn(token, name), properties=properties))


def _begin_creations(engine, cloud):
    """Begin creations of which none can end, because the server holds all requests that have a connection."""
    cloud.interceptor.hold(1, "before the work")
    begun = [_begin(engine, TEMPLATE, f"web-{number}", template()) for number in range(CALLS)]
    cloud.interceptor.wait_until_held(MOST_AT_ONCE)
    return begun


def test_a_cancellation_is_heard_although_no_creation_can_end(engine, cloud):
    begun = _begin_creations(engine, cloud)
    engine.stub.Cancel(empty_pb2.Empty())
    said = [failed(creation.exception()).message for creation in begun]
    cloud.interceptor.drain()

    assert [text for text in said if "cancelled" not in text] == []


def test_a_cancellation_ends_the_wait_for_a_connection_although_none_becomes_free(patient, cloud):
    begun, ended = _begin_creations(patient, cloud), queue.SimpleQueue()
    for creation in begun:
        creation.add_done_callback(ended.put)
    patient.stub.Cancel(empty_pb2.Empty())
    said = [failed(ended.get(timeout=HANGS).exception()).message for _ in range(CALLS - MOST_AT_ONCE)]

    assert [text for text in said if "cancelled before the request was sent" not in text] == []


def test_a_cancellation_ends_the_wait_for_an_equal_notification_although_that_one_does_not_end(patient, cloud):
    cloud.interceptor.hold(2, "before the work")  # the first request lists the configurations of the bucket
    first = _begin(patient, NOTIFICATION, "one", notification())
    cloud.interceptor.wait_until_held()
    second = _begin(patient, NOTIFICATION, "two", notification())
    patient.stub.Cancel(empty_pb2.Empty())
    with failing() as failures:
        second.result(timeout=HANGS)

    assert "cancelled before the request was sent" in failures[0].message
    assert not first.done()
