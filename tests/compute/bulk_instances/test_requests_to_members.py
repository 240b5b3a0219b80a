"""Requests to many members are sent side by side, and their operations are waited for together, with few calls."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import grpc
import pytest
from engines import driver
from engines.clock import FakeClock
from engines.clocked import client, context
from engines.driver import failing
from rolling.fleets import instance_path, member_names
from values.programs import FLEET, PROJECT, ZONE, fleet

from gcpx.compute.bulk_instances.fleet import Fleet, MemberRequest
from gcpx.errors import CancelledError
from gcpx.gcp.errors import NotFound, OperationFailed, PreconditionFailed, Unfinished
from gcpx.gcp.settings import Settings

DELETE = "compute.instances.delete"
SET_LABELS = "compute.instances.setLabels"
LISTS = "compute.zoneOperations.list"
GET = "compute.zoneOperations.get"


@pytest.fixture
def clock(cloud):
    """One clock for the client and for the operations of the emulator."""
    return cloud.clock


@pytest.fixture
def crew(engine, cloud, clock):
    """A fleet of five members in one zone, through a client whose pauses pass at once."""
    created = engine.create(FLEET, "workers", fleet(count=5))
    google = client(clock, Settings(project=PROJECT, emulator_host=cloud.host))
    yield Fleet(google, PROJECT, "us-east1", created.outputs["fleetId"])
    google.close()


@pytest.fixture
def members(crew, cloud, clock):
    """The members of the fleet, listed."""
    found = crew.matching(context(clock))
    cloud.emulator.requests.kept.clear()
    return found


def _deletions(members):
    return [MemberRequest(member, "delete") for member in members]


def _slow(cloud, seconds):
    """Let operations take some seconds of the clock that the pauses move."""
    cloud.emulator.operations.latency = seconds
    cloud.clock.hold()


def test_a_fleet_in_three_zones_is_deleted_with_one_list_of_operations_each(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(count=90, locationPolicy={"targetShape": "BALANCED"}))
    cloud.emulator.requests.kept.clear()
    engine.delete(created)
    deletions = cloud.requests(DELETE)

    assert Counter(cloud.calls("compute.instances.delete", "compute.zoneOperations")) == {DELETE: 90, LISTS: 3}
    assert len({entry["query"]["requestId"] for entry in deletions}) == 90
    assert engine.refresh(created).outputs["members"] == []


def test_slow_operations_are_read_in_rounds_with_growing_pauses(crew, members, cloud, clock):
    _slow(cloud, 60.0)
    crew.delete(context(clock), members)

    assert clock.pauses == [1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0]
    assert len(cloud.requests(LISTS)) == len(clock.pauses) + 1
    assert cloud.calls("compute.zoneOperations.get", "compute.zoneOperations.wait") == []
    assert crew.matching(context(clock)) == []


def test_a_list_of_operations_names_its_fields_and_has_no_filter(crew, members, cloud, clock):
    crew.delete(context(clock), members)
    (query,) = (entry["query"] for entry in cloud.requests(LISTS))

    assert query["orderBy"] == "creationTimestamp desc"
    assert query["fields"].startswith("items(name,status,error,")
    assert "filter" not in query, "filters have a quota of their own"


def test_a_single_operation_is_read_by_its_name(crew, members, cloud, clock):
    crew.delete(context(clock), members[:1])

    assert cloud.calls() == [DELETE, GET]


def test_an_operation_that_lists_do_not_show_twice_is_read_by_its_name(crew, members, cloud, clock):
    cloud.fail(LISTS, times=2, body='{"items": []}')
    crew.delete(context(clock), members)

    assert Counter(cloud.calls("compute.zoneOperations")) == {LISTS: 2, GET: 5}


@pytest.mark.parametrize(
    "fault", [{"status": 403}, {"status": 404}, {"body": '{"items": 5}'}, {"body": '{"items": [5]}'}]
)
def test_without_lists_operations_are_read_by_their_names(crew, members, cloud, clock, fault):
    cloud.fail(LISTS, **fault)
    crew.delete(context(clock), members)

    assert Counter(cloud.calls("compute.zoneOperations")) == {LISTS: 1, GET: 5}


def test_a_list_that_fails_for_a_moment_is_asked_for_again(crew, members, cloud, clock):
    cloud.fail(LISTS, times=20, status=503)
    lines = []
    crew.delete(context(clock, say=lines.append), members)

    assert GET not in cloud.calls()
    assert any("asking again" in line for line in lines)


def test_all_are_tried_before_the_first_error_is_raised(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(count=5))
    cloud.fail(DELETE, status=412, message="you may not delete this one")
    with failing() as failed:
        engine.delete(created)

    assert "you may not delete this one" in failed[0].message
    assert len(member_names(engine.refresh(created))) == 1


def test_each_failure_names_its_request(crew, members, cloud, clock):
    error = {"code": "RESOURCE_IN_USE", "message": "it is busy"}
    cloud.fail(DELETE, status=412)
    cloud.fail(DELETE, operation={"errors": [error], "httpErrorStatusCode": 400})
    failures = crew.try_all(context(clock), _deletions(members), "deleted")
    left = {member["name"] for member in crew.matching(context(clock))}

    assert {type(failure.error) for failure in failures} == {PreconditionFailed, OperationFailed}
    assert {failure.request.member["name"] for failure in failures} == left
    (failed,) = (failure for failure in failures if isinstance(failure.error, OperationFailed))
    assert f"zones/{ZONE}/instances/{failed.request.member['name']}: it is busy" in str(failed.error)


def test_a_member_that_is_gone_counts_as_deleted_but_not_as_changed(crew, members, cloud, clock):
    cloud.emulator.store.delete(instance_path("web-002"))
    requests = [
        MemberRequest(member, "setLabels", {"labelFingerprint": member["labelFingerprint"]}) for member in members
    ]
    (failure,) = crew.try_all(context(clock), requests, "changed")
    assert isinstance(failure.error, NotFound)
    crew.delete(context(clock), members)

    assert crew.matching(context(clock)) == []


def test_a_cancellation_ends_the_wait_and_sends_nothing_more(crew, members, cloud):
    cloud.hold_operations()
    clock = FakeClock()
    interrupted = context(clock, cancelled_at_first_pause=True)
    accepted = crew.try_all(interrupted, _deletions(members[:3]), "deleted")
    rest = crew.try_all(interrupted, _deletions(members[3:]), "deleted")

    assert [type(failure.error) for failure in (*accepted, *rest)] == [Unfinished] * 3 + [CancelledError] * 2
    assert "cancelled while Google was still working on it" in str(accepted[0].error)
    assert len(clock.pauses) == 1
    assert len(cloud.requests(DELETE)) == 3


def test_a_cancellation_by_the_engine_ends_a_deletion(engine, cloud):
    created = engine.create(FLEET, "workers", fleet())
    cloud.hold_operations()
    before = len(cloud.emulator.requests.kept)
    request = driver.rpc.DeleteRequest(
        id=created.id,
        urn=created.urn,
        properties=driver.struct(created.outputs),
        old_inputs=driver.struct(created.inputs),
    )
    deletion = engine.stub.Delete.future(request)
    while len(cloud.emulator.requests.kept) < before + 5:  # the list of the members, 3 deletions, a list of operations
        with suppress(grpc.FutureTimeoutError):
            deletion.result(timeout=0.01)
    engine.stub.Cancel(driver.empty_pb2.Empty())
    with failing() as failed:
        deletion.result()

    assert "cancelled while Google was still working on it" in failed[0].message


def test_operations_that_take_too_long_are_unfinished(crew, members, cloud, clock):
    _slow(cloud, 1e9)
    failures = crew.try_all(context(clock, timeout=300), _deletions(members), "deleted")

    assert {type(failure.error) for failure in failures} == {Unfinished}
    assert "did not finish in time" in str(failures[0].error)
    assert 300 <= sum(clock.pauses) <= 315


def test_an_operation_that_cannot_be_read_is_unfinished(crew, members, cloud, clock):
    cloud.fail(LISTS, status=403)
    cloud.fail(GET, status=403, message="no permission to see operations")
    (failure,) = crew.try_all(context(clock), _deletions(members), "deleted")

    assert isinstance(failure.error, Unfinished)
    assert "no permission to see operations" in str(failure.error)


@pytest.mark.parametrize("body", ["{}", '{"name": 5}', '{"name": "operation-1"}'])
def test_a_response_that_names_no_operation_is_unfinished(crew, members, cloud, clock, body):
    cloud.fail(DELETE, body=body)
    (failure,) = crew.try_all(context(clock), _deletions(members), "deleted")

    assert isinstance(failure.error, Unfinished)


def test_labels_are_set_with_the_fingerprints_of_the_list(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(count=30))
    cloud.emulator.requests.kept.clear()
    engine.update(created, fleet(count=30, labels={"a": "1"}))

    assert Counter(cloud.calls(SET_LABELS, LISTS, GET)) == {SET_LABELS: 30}, "each is done in the first response"
    assert "compute.instances.get" not in cloud.calls()
    assert cloud.get(instance_path("web-030"))["labels"]["a"] == "1"


def test_only_members_that_someone_else_changed_are_tried_again(engine, cloud):
    created = engine.create(FLEET, "workers", fleet(count=5))
    cloud.fail(SET_LABELS, status=412, reason="conditionNotMet", times=2)
    cloud.emulator.requests.kept.clear()
    engine.update(created, fleet(count=5, labels={"a": "1"}))

    assert len(cloud.requests(SET_LABELS)) == 7
    assert len(cloud.requests("compute.instances.list")) == 3 + 1, "the members, then again those of their zone"
    assert all(cloud.get(instance_path(name))["labels"]["a"] == "1" for name in member_names(created))


def test_a_member_that_keeps_changing_is_an_error_after_the_second_try(crew, members, cloud, engine):
    created = engine.import_(FLEET, "same", crew.resource_id)
    changed = {**created.inputs, "instanceProperties": {**created.inputs["instanceProperties"], "labels": {"a": "1"}}}
    cloud.fail(SET_LABELS, status=412, reason="conditionNotMet", message="the fingerprint differs", times=9)
    with failing() as failed:
        engine.update(created, changed)

    assert "the fingerprint differs" in failed[0].message
    assert len(cloud.requests(SET_LABELS)) == 2 * len(members)
    assert failed[0].partial is not None, "some members may have been changed"
