"""A cancellation is heard at once, however many calls are under way, and ends every wait of a call for another one.

Holds reliability.md: "^C does not wait".
"""

from __future__ import annotations

from engines import driver
from engines.driver import failed
from google.protobuf import empty_pb2
from values.programs import NOTIFICATION, TEMPLATE, notification, template

from gcpx.gcp.request import MOST_AT_ONCE

CALLS = MOST_AT_ONCE + 44
"""More calls than connections, so that some wait for a free connection."""


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


def test_a_cancellation_ends_the_wait_for_an_equal_notification(engine, cloud):
    cloud.interceptor.hold(2, "before the work")  # the first request lists the configurations of the bucket
    first = _begin(engine, NOTIFICATION, "one", notification())
    cloud.interceptor.wait_until_held()
    second = _begin(engine, NOTIFICATION, "two", notification())
    engine.stub.Cancel(empty_pb2.Empty())
    said = [failed(creation.exception()).message for creation in (first, second)]
    cloud.interceptor.drain()

    assert "Google may still carry the request out" in said[0]
    assert "cancelled before the request was sent" in said[1]
