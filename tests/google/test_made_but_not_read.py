"""What was made is never lost: any failure after a creation keeps the ID, and the next run finds nothing to replace."""

from __future__ import annotations

import driver
import grpc
import pytest
from driver import failing
from programs import (
    ATTACHMENT,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    TEMPLATE,
    attachment,
    fleet,
    image,
    key,
    notification,
    template,
)

from gcpx_emulator.core.faults import Fault, Faults

NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE
CREATIONS = {
    "template": (TEMPLATE, {"name": "web", **template()}),
    "regional template": (TEMPLATE, {"name": "web", "region": "us-east1", **template()}),
    "image": (IMAGE, image(name="golden")),
    "attachment": (ATTACHMENT, attachment()),
    "attachment with a device": (ATTACHMENT, attachment(deviceName="data")),
    "fleet": (FLEET, fleet(2)),
    "key": (KEY, key()),
}
LOOKS = {
    "template": ("compute.globalOperations.wait", "compute.instanceTemplates.get"),
    "regional template": ("compute.regionOperations.wait", "compute.regionInstanceTemplates.get"),
    "image": ("compute.globalOperations.wait", "compute.machineImages.get"),
    "attachment": ("compute.zoneOperations.wait", "compute.instances.get"),
    "attachment with a device": ("compute.zoneOperations.wait", "compute.instances.get"),
    "fleet": ("compute.regionOperations.wait", "compute.instances.aggregatedList"),
    "key": ("oslogin.users.sshPublicKeys.get",),
}
FAULTS = {
    "403": {"status": 403, "message": "denied"},
    "404": {"status": 404, "message": "not there"},
    "409": {"status": 409, "reason": "conflict", "message": "busy"},
    "503": {"status": 503},
    "no JSON": {"body": "<html>"},
    "no object": {"body": "[]"},
    "another object": {"body": '{"items": 7, "disks": 7, "name": 7, "id": "x"}'},
    "an empty object": {"body": "{}"},
    "no answer": {"drop": "before"},
}
CASES = [
    (name, method, fault)
    for name, methods in LOOKS.items()
    for method in methods
    for fault in FAULTS
    # An operation that is not waited for is read, and a list that is empty is a list.
    if not (method.endswith(".wait") and fault == "404")
    if not (method.endswith("aggregatedList") and fault == "an empty object")
    # Variants of a resource take the same way, so one fault shows it.
    if fault == "403" or name not in {"regional template", "attachment with a device"}
]


def _state(engine, token, inputs, timeout=0.2):
    """Create something that fails after it was made; gives what the engine keeps, and what the user reads.

    The timeout ends retries of what never passes; what is kept is the same wherever it ends them.
    """
    checked, urn = engine.checked(token, "kept", inputs), engine.urn(token, "kept")
    with failing() as failed:
        engine.stub.Create(
            driver.rpc.CreateRequest(urn=urn, properties=driver.struct(checked), name="kept", timeout=timeout)
        )
    partial = failed[0].partial
    assert partial is not None, failed[0].message
    return driver.Resource(urn, partial.id, checked, driver.plain(partial.properties)), failed[0].message


def _fail(cloud, name, method, **fault):
    """Fail every call of a method after the creation; a fleet is looked for before it, too, and that works."""
    if name == "fleet" and method.endswith("List"):
        cloud.fail(method)
    cloud.fail(method, times=1000, **fault)


def _settled(engine, resource, inputs):
    """Hold a resource to be whole: nothing changes, nothing drifts, and it can be deleted."""
    assert engine.diff(resource, inputs).changes == NO_CHANGE
    assert engine.drift(resource) == set()
    engine.delete(resource)
    assert engine.refresh(resource) is None


@pytest.mark.parametrize("name", CREATIONS)
def test_these_are_all_the_calls_after_a_creation(engine, cloud, vm, name):
    token, inputs = CREATIONS[name]
    engine.create(token, "kept", inputs)
    calls = cloud.calls()
    made = next(index for index, call in enumerate(calls) if not call.endswith((".get", "ist")))

    assert tuple(calls[made + 1 :]) == LOOKS[name]


@pytest.mark.parametrize(("name", "method", "fault"), CASES)
def test_a_failure_after_the_creation_keeps_the_id_and_the_next_up_converges(engine, cloud, vm, name, method, fault):
    token, inputs = CREATIONS[name]
    if (token, fault) == (KEY, "404"):
        engine.stub.Cancel(driver.empty_pb2.Empty())  # a key that is not shown yet is waited for
    _fail(cloud, name, method, **FAULTS[fault])
    state, message = _state(engine, token, inputs)
    cloud.emulator.faults.queue.clear()
    again = engine.update(state, inputs)

    assert "Traceback" not in message
    assert "please report" not in message
    _settled(engine, again, inputs)


@pytest.mark.parametrize(("name", "method"), [(name, methods[-1]) for name, methods in LOOKS.items()])
def test_a_refresh_after_a_failed_look_plans_nothing(engine, cloud, vm, name, method):
    token, inputs = CREATIONS[name]
    _fail(cloud, name, method, status=403)
    state, _ = _state(engine, token, inputs)
    cloud.emulator.faults.queue.clear()

    assert engine.drift(state) == set(), "what Google chose by itself is no drift"
    refreshed = engine.refresh(state)
    assert refreshed.inputs == state.inputs
    _settled(engine, refreshed, inputs)


@pytest.mark.parametrize("name", CREATIONS)
def test_a_cancelled_creation_keeps_its_id(engine, cloud, vm, name):
    token, inputs = CREATIONS[name]
    _fail(cloud, name, LOOKS[name][-1], status=503)
    engine.stub.Cancel(driver.empty_pb2.Empty())
    state, _ = _state(engine, token, inputs, timeout=0)
    cloud.emulator.faults.queue.clear()
    engine.configure(project="demo-project", emulatorHost=cloud.host)
    refreshed = engine.refresh(state)

    assert refreshed.inputs == state.inputs
    _settled(engine, refreshed, inputs)


def test_what_a_user_changed_since_is_drift_all_the_same(engine, cloud, vm):
    inputs = image(name="golden", labels={"a": "1"})
    cloud.fail("compute.machineImages.get", times=1000, status=403)
    state, message = _state(engine, IMAGE, inputs, timeout=0)
    cloud.emulator.faults.queue.clear()
    cloud.change(state.id, lambda body: body.update(labels={"a": "2"}))

    assert "pulumi up" in message
    assert engine.drift(state) == {"labels.a"}


def test_an_image_that_someone_else_made_meanwhile_is_not_taken(engine, cloud, vm):
    cloud.fail("compute.machineImages.get", times=1000, status=403)
    state, _ = _state(engine, IMAGE, image(name="golden"))
    cloud.emulator.faults.queue.clear()
    cloud.change(state.id, lambda body: body.update(id="42"))
    engine.delete(state)

    assert engine.refresh(state) is None
    assert cloud.get(state.id) is not None


@pytest.mark.parametrize("name", ["template", "image"])
def test_what_another_made_while_the_end_was_not_seen_is_not_taken(engine, cloud, vm, name):
    token, inputs = CREATIONS[name]
    cloud.fail(LOOKS[name][0], times=9, status=403)
    state, _ = _state(engine, token, inputs)
    cloud.emulator.faults.queue.clear()
    cloud.change(state.id, lambda body: body.update(id="42"))
    engine.delete(state)

    assert engine.refresh(state) is None
    assert cloud.get(state.id) is not None


@pytest.mark.parametrize(
    ("name", "insert"),
    [
        ("template", "compute.instanceTemplates.insert"),
        ("image", "compute.machineImages.insert"),
        ("attachment", "compute.instances.attachDisk"),
        ("fleet", "compute.regionInstances.bulkInsert"),
    ],
)
def test_a_response_that_is_not_an_operation_keeps_the_id(engine, cloud, vm, name, insert):
    token, inputs = CREATIONS[name]
    cloud.fail(insert, body='{"hello": "world"}')
    state, message = _state(engine, token, inputs, timeout=0)

    assert "could not be parsed" in message
    assert state.id


@pytest.mark.parametrize("body", ["{}", "[]", '{"kind": "storage#notification"}'])
def test_an_answer_without_an_id_makes_one_notification(engine, cloud, body):
    cloud.fail("storage.notifications.insert", body=body)
    created = engine.create(NOTIFICATION, "n", notification())

    assert cloud.emulator.store.counts()["notificationConfigs"] == 1
    assert engine.drift(created) == set()


class _RefusedAfter(Faults):
    """Refuses one method as soon as another was called."""

    def take(self, method):
        if method == "storage.notifications.insert":
            self.queue.append(Fault(method="storage.notifications.list", status=403, message="denied", times=9))
        return super().take(method)


def test_a_notification_that_may_have_been_made_says_how_to_find_it(engine, cloud, monkeypatch):
    dropped = Fault(method="storage.notifications.insert", drop="after")
    monkeypatch.setattr(cloud.emulator, "faults", _RefusedAfter([dropped]))
    with failing() as failed:
        engine.create(NOTIFICATION, "n", notification())

    assert "may have been created" in failed[0].message
    assert "pulumi do gcpx:storage:NotificationConfig list --all --bucket demo-uploads" in failed[0].message


def test_a_fleet_that_failed_and_cannot_be_listed_keeps_its_id_and_the_reason(engine, cloud):
    errors = [{"code": "QUOTA_EXCEEDED", "message": "no room"}]
    cloud.fail("compute.regionInstances.bulkInsert", operation={"errors": errors})
    _fail(cloud, "fleet", "compute.instances.aggregatedList", status=403, message="denied")
    state, message = _state(engine, FLEET, fleet(2), timeout=0)
    cloud.emulator.faults.queue.clear()

    assert "no room" in message
    assert "denied" in message
    assert "it was created" not in message
    assert engine.update(state, fleet(2)).outputs["createdCount"] == 2


ODD = {
    "nothing": "{}",
    "null in place of lists": '{"id": "1", "items": null, "disks": null, "labels": null}',
    "nulls in lists": '{"id": "1", "items": [null], "disks": [null]}',
    "objects of nothing": '{"id": "1", "items": {"zones/us-east1-b": {"instances": [{}]}}, "disks": [{}]}',
    "texts": '{"id": "1", "items": "x", "disks": "x", "labels": "x", "name": 5}',
}
READS = {
    "template": (CREATIONS["template"], "compute.instanceTemplates.get"),
    "image": (CREATIONS["image"], "compute.machineImages.get"),
    "attachment": (CREATIONS["attachment"], "compute.instances.get"),
    "fleet": (CREATIONS["fleet"], "compute.instances.aggregatedList"),
    "key": (CREATIONS["key"], "oslogin.users.sshPublicKeys.get"),
    "notification": ((NOTIFICATION, notification()), "storage.notifications.get"),
}


def _outcome(call):
    """Give the code that a call ends with."""
    try:
        call()
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


@pytest.mark.parametrize("body", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("name", READS)
def test_an_odd_answer_is_no_internal_error(engine, cloud, vm, name, body, caplog):
    (token, inputs), method = READS[name]
    made = engine.create(token, "kept", inputs)
    query = {KEY: {"user": made.inputs.get("user")}, NOTIFICATION: {"bucket": "demo-uploads"}}.get(token)
    calls = {
        "refresh": lambda: engine.refresh(made),
        "import": lambda: engine.import_(token, "again", made.id),
        "update": lambda: engine.update(made, inputs),
        "list": lambda: engine.list(token, query),
        "delete": lambda: engine.delete(made),
    }
    lists = (method, method.replace(".get", ".list"), method.replace(".get", ".aggregatedList"))
    for what, call in calls.items():
        for looked in lists:
            cloud.fail(looked, times=1000, body=body)
        assert _outcome(call) not in {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN}, what
        cloud.emulator.faults.queue.clear()
    caplog.clear()


@pytest.mark.parametrize("name", [name for name in READS if name != "fleet"])
def test_an_answer_of_nothing_does_not_mean_gone(engine, cloud, vm, name):
    (token, inputs), method = READS[name]
    made = engine.create(token, "kept", inputs)
    cloud.fail(method, body="{}")
    with failing() as failed:
        engine.refresh(made)

    assert "Google's response for" in failed[0].message
    assert engine.refresh(made) == made
