"""Many operations of one scope are waited for by a few lists, and each call still gets the result of its own."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import attrs
import grpc
import pytest
from engines.clock import HANGS
from engines.driver import Engine, Resource, failed
from google.protobuf import empty_pb2
from servers.emulated import Emulated
from values.programs import FLEET, TEMPLATE, fleet, template

from gcpx.compute.operations import Operations

MANY = 60
FEW = 16
INSERT, DELETE = "compute.instanceTemplates.insert", "compute.instanceTemplates.delete"
WAIT, LIST = "compute.globalOperations.wait", "compute.globalOperations.list"
NOTHING = '{"kind": "compute#operationList"}'


@attrs.frozen
class Calls:
    """Calls of the engine that run side by side."""

    engine: Engine
    cloud: Emulated

    def create(self, number: int) -> Resource | grpc.RpcError:
        """Create a template; give the error if that fails."""
        try:
            return self.engine.create(TEMPLATE, f"web-{number}", {"name": f"web-{number}", **template()})
        except grpc.RpcError as error:
            return error

    @contextmanager
    def begun(self, verb: Callable[[Any], Any], items: list[Any], last: str) -> Iterator[Callable[[], list[Any]]]:
        """Begin a verb for all items; in the block, all have sent their request, and no operation ends.

        The block begins with a request to a path that ends in `last`. Gives a function that waits for the results.
        """
        sent, changes = threading.Event(), []

        def observe(_: int, request: str) -> None:
            if request.startswith(("POST", "DELETE")) and not request.endswith("/wait"):
                changes.append(request)
            if len(changes) >= len(items) and request.endswith(last):
                sent.set()

        self.cloud.emulator.requests.kept.clear()
        with (
            ThreadPoolExecutor(len(items)) as pool,
            self.cloud.interceptor.observed(observe),
            self.cloud.held_operations(),
        ):
            results = [pool.submit(verb, item) for item in items]
            assert sent.wait(HANGS)
            yield lambda: [result.result(HANGS) for result in results]

    def counts(self) -> Counter[str]:
        """Return how often each method was called."""
        return Counter(self.cloud.calls())


@pytest.fixture
def calls(engine: Engine, cloud: Emulated) -> Calls:
    """A plugin whose time is real."""
    return Calls(engine, cloud)


def test_many_creations_and_deletions_are_waited_for_by_lists(calls):
    with calls.begun(calls.create, [*range(MANY)], "/operations") as results:
        pass
    made = results()
    created = calls.counts()
    with calls.begun(calls.engine.delete, made, "/operations") as results:
        pass

    assert all(isinstance(resource, Resource) for resource in made)
    assert created[INSERT] == MANY
    assert created[WAIT] <= 2 * FEW  # the first ones, and the last ones
    assert results() == [None] * MANY
    assert calls.counts()[DELETE] == MANY
    assert calls.counts()[WAIT] <= 2 * FEW
    assert calls.counts().keys() <= {DELETE, WAIT, LIST}, "nothing is read before a deletion"
    assert not calls.cloud.emulator.store.counts().get("instanceTemplates")


def test_each_of_many_fleets_learns_from_lists_what_its_creation_has_created(calls):
    def create(number):
        return calls.engine.create(FLEET, f"web-{number}", fleet(count=2, namePattern=f"web-{number}-##"))

    with calls.begun(create, [*range(MANY)], "/operations") as results:
        pass
    statuses = [status for made in results() for status in made.outputs["perLocationStatus"].values()]

    assert calls.counts()["compute.regionOperations.list"]
    assert {(status["status"], status["createdVmCount"]) for status in statuses} == {("DONE", 2)}


def test_a_few_creations_are_waited_for_one_by_one(calls):
    with calls.begun(calls.create, [*range(8)], "/wait") as results:
        pass

    assert all(isinstance(resource, Resource) for resource in results())
    assert calls.counts()[WAIT] >= 8
    assert LIST not in calls.counts()


@pytest.mark.parametrize(
    "fault", [{"status": 403}, {"status": 404}, {"body": NOTHING}, {"body": '{"items": 5}'}], ids=str
)
def test_what_lists_do_not_show_is_waited_for_one_by_one(calls, fault):
    calls.cloud.fail(LIST, times=10**9, **fault)
    with calls.begun(calls.create, [*range(MANY)], "/wait") as results:
        pass

    assert all(isinstance(resource, Resource) for resource in results())
    assert calls.counts()[INSERT] == MANY
    if "status" in fault and fault["status"] == 403:
        assert calls.counts()[LIST] == 1


def test_an_operation_that_fails_is_the_error_of_its_own_call(calls):
    failure = {"errors": [{"code": "QUOTA_EXCEEDED", "message": "no more templates"}], "httpErrorStatusCode": 403}
    calls.cloud.fail(INSERT, operation=failure)
    with calls.begun(calls.create, [*range(MANY)], "/operations") as results:
        pass
    errors = [failed(made) for made in results() if isinstance(made, grpc.RpcError)]

    assert ["no more templates" in error.message for error in errors] == [True]
    assert calls.cloud.emulator.store.counts()["instanceTemplates"] == MANY - 1


def test_a_cancellation_ends_all_waits_and_keeps_what_was_sent(calls, monkeypatch):
    waits, outcome = threading.Semaphore(0), Operations.outcome

    def counted(*arguments):
        waits.release()
        return outcome(*arguments)

    monkeypatch.setattr(Operations, "outcome", counted)
    with calls.begun(calls.create, [*range(MANY)], "/operations") as results:
        # An insert that has reached Google may not be answered yet.
        assert all(waits.acquire(timeout=HANGS) for _ in range(MANY))
        calls.engine.stub.Cancel(empty_pb2.Empty())
        errors = [failed(error) for error in results()]

    assert all("cancelled while Google was still working on it" in error.message for error in errors)
    assert all(error.partial is not None for error in errors)
