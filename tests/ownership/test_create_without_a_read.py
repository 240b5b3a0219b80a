"""A failure after Google created a resource keeps its ID, and the next run does not replace the resource."""

from __future__ import annotations

import attrs
import grpc
import pytest
from engines import driver
from engines.disturbed import undisturbed
from engines.driver import failing
from faults.fault_case import Case, run_case
from faults.fault_kinds import FaultKind
from samples import SAMPLES
from values.programs import ATTACHMENT, FLEET, IMAGE, KEY, PROJECT, TEMPLATE, attachment, fleet, image, key, template
from values.scenarios import FAULT_SCENARIOS

from gcpx.oslogin.ssh_key import SshKey
from gcpx.provider import Provider

LIMIT = 60
"""The custom timeout in seconds, on a clock that nobody waits for: it ends the retries of permanent faults."""
NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE
VARIANTS = {
    "regional template": (TEMPLATE, {"name": "web", "region": "us-east1", **template()}),
    "attachment with a device": (ATTACHMENT, attachment(deviceName="data")),
}
CREATIONS = {name: (sample.token, sample.inputs) for name, sample in SAMPLES.items()} | VARIANTS
READ_LAST = {TEMPLATE, IMAGE, ATTACHMENT, KEY, FLEET}
"""What a creation reads in the end; Google's response to the insertion of a notification has everything."""
READS = {name: sample.read_method for name, sample in SAMPLES.items() if sample.token in READ_LAST} | {
    "regional template": "compute.regionInstanceTemplates.get",
    "attachment with a device": "compute.instances.get",
}
"""The last call of each creation that reads what it has made."""
PROGRAMS = ["template", "template_regional", "image", "attachment", "attachment_encrypted", "key", "fleet"]
FAULTS = {
    "403": {"status": 403, "message": "denied"},
    "404": {"status": 404, "message": "not there"},
    "409": {"status": 409, "reason": "conflict", "message": "busy"},
    "429": {"status": 429, "retry_after": 30},
    "503": {"status": 503},
    "not JSON": {"body": "<html>"},
    "not an object": {"body": "[]"},
    "another object": {"body": '{"items": 7, "disks": 7, "name": 7, "id": "x"}'},
    "an empty object": {"body": "{}"},
    "no response": {"drop": "before"},
}


@pytest.fixture
def engine(clocked_engine):
    """An engine whose plugin does not wait between retries."""
    return clocked_engine


def _create_partially(engine, token, inputs, meanwhile=lambda: None):
    """Expect a failure after Google created the resource; return the state that the engine keeps, and the message."""
    checked, urn = engine.checked(token, "kept", inputs), engine.urn(token, "kept")
    with failing() as failed:
        request = driver.rpc.CreateRequest(urn=urn, properties=driver.struct(checked), name="kept", timeout=LIMIT)
        creation = engine.stub.Create.future(request)
        meanwhile()
        creation.result()
    partial = failed[0].partial
    assert partial is not None, failed[0].message
    return driver.Resource(urn, partial.id, checked, driver.plain(partial.properties)), failed[0].message


def _fail_later(cloud, token, method, **fault):
    """Let a method fail after the creation; a key is also read before it."""
    if token == KEY:
        cloud.fail(method, delay=0.0)
    cloud.fail(method, times=1000, **fault)


def _assert_settled(engine, resource, inputs):
    """Assert that a resource shows no change and no drift, and can be deleted."""
    assert engine.diff(resource, inputs).changes == NO_CHANGE
    assert engine.drift(resource) == set()
    engine.delete(resource)
    assert engine.is_gone(resource)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_failure_after_the_creation_keeps_the_id_and_the_next_up_converges(cloud, program, fault):
    (scenario,) = (item for item in FAULT_SCENARIOS if str(item) == f"{program}.create")
    expected = undisturbed(cloud, scenario)
    made = next(index for index, call in enumerate(expected.calls) if call.changes)
    later = {call.method: call for call in reversed(expected.calls[made + 1 :])}
    assert later
    kind = FaultKind(name=fault, response=FAULTS[fault], everywhere=False)
    for call in later.values():
        stack = run_case(cloud, Case(scenario, call, kind, lasts=True, recovery="up"), expected)
        assert "Traceback" not in "".join(stack.messages)
        assert "please report" not in "".join(stack.messages)


@pytest.mark.parametrize(("name", "method"), READS.items())
def test_a_refresh_after_a_failed_read_shows_no_drift(engine, cloud, vm, name, method):
    token, inputs = CREATIONS[name]
    _fail_later(cloud, token, method, status=403)
    state, _ = _create_partially(engine, token, inputs)
    cloud.emulator.faults.queue.clear()

    assert engine.drift(state) == set(), "values that Google chose are not drift"
    refreshed = engine.refresh(state)
    assert refreshed.inputs == state.inputs
    _assert_settled(engine, refreshed, inputs)


@pytest.mark.parametrize(("name", "method"), READS.items())
def test_a_creation_that_is_cancelled_between_retries_keeps_its_id(cloud, vm, name, method):
    token, inputs = CREATIONS[name]
    _fail_later(cloud, token, method, status=503)
    with driver.engine(project=PROJECT, emulatorHost=cloud.host) as engine:

        def cancel():
            engine.log.wait_until_said("trying again in")
            engine.stub.Cancel(driver.empty_pb2.Empty())

        state, _ = _create_partially(engine, token, inputs, cancel)
        cloud.emulator.faults.queue.clear()
        engine.configure(project=PROJECT, emulatorHost=cloud.host)
        refreshed = engine.refresh(state)

        assert refreshed.inputs == state.inputs
        _assert_settled(engine, refreshed, inputs)


def test_a_change_after_a_failed_read_is_drift(engine, cloud, vm):
    inputs = image(name="golden", labels={"a": "1"})
    cloud.fail("compute.machineImages.get", times=1000, status=403)
    state, message = _create_partially(engine, IMAGE, inputs)
    cloud.emulator.faults.queue.clear()
    cloud.change(state.id, lambda body: body.update(labels={"a": "2"}))

    assert "pulumi up" in message
    assert engine.drift(state) == {"labels.a"}


@pytest.mark.parametrize("name", ["instance_template", "machine_image"])
def test_a_resource_that_replaced_ours_during_a_failed_wait_is_not_deleted(engine, cloud, vm, name):
    token, inputs = CREATIONS[name]
    cloud.fail("compute.globalOperations.wait", times=9, status=403)
    state, _ = _create_partially(engine, token, inputs)
    cloud.emulator.faults.queue.clear()
    cloud.change(state.id, lambda body: body.update(id="42"))
    engine.delete(state)

    assert engine.is_gone(state)
    assert cloud.get(state.id) is not None


@pytest.mark.parametrize(
    ("name", "insert"),
    [
        ("instance_template", "compute.instanceTemplates.insert"),
        ("machine_image", "compute.machineImages.insert"),
        ("disk_attachment", "compute.instances.attachDisk"),
        ("bulk_instances", "compute.regionInstances.bulkInsert"),
    ],
)
def test_a_response_that_is_not_an_operation_keeps_the_id(engine, cloud, vm, name, insert):
    token, inputs = CREATIONS[name]
    cloud.fail(insert, body='{"hello": "world"}')
    state, message = _create_partially(engine, token, inputs)

    assert "an operation without a name" in message
    assert state.id


def test_a_fleet_that_failed_and_cannot_be_listed_keeps_its_id_and_the_reason(engine, cloud):
    errors = [{"code": "QUOTA_EXCEEDED", "message": "no room"}]
    cloud.fail("compute.regionInstances.bulkInsert", operation={"errors": errors})
    cloud.fail("compute.instances.list", times=1000, status=403, message="denied")
    state, message = _create_partially(engine, FLEET, fleet(2))
    cloud.emulator.faults.queue.clear()

    assert "no room" in message
    assert "denied" in message
    assert "it was created" not in message
    assert engine.update(state, fleet(2)).outputs["memberCount"] == 2


class _OddKey(SshKey):
    """A key whose outputs hold something that cannot be written."""

    def create(self, call, inputs):
        live = super().create(call, inputs)
        return attrs.evolve(live, properties={**live.properties, "name": object()})

    def update(self, call, resource_id, old, new):
        live = super().update(call, resource_id, old, new)
        return attrs.evolve(live, properties={**live.properties, "name": object()})


class _OddProvider(Provider):
    def resource(self, token):
        assert token == KEY
        return _OddKey(*self._client_and_lookups)


def test_what_exists_stays_in_the_state_if_its_outputs_cannot_be_written(engine, cloud, caplog):
    with driver.engine(_OddProvider(), project=PROJECT, emulatorHost=cloud.host) as odd:
        created, message = _create_partially(odd, KEY, key())
        with failing() as failed:
            odd.update(created, key(expirationTimeUsec="1924991999000000"))
    caplog.clear()
    updated = attrs.evolve(created, outputs=driver.plain(failed[0].partial.properties))

    assert "could not process a response" in message
    assert failed[0].partial.id == created.id
    _assert_settled(engine, engine.update(updated, key()), key())


MALFORMED = {
    "an empty object": "{}",
    "null in place of lists": '{"id": "1", "items": null, "disks": null, "labels": null}',
    "nulls in lists": '{"id": "1", "items": [null], "disks": [null]}',
    "empty objects": '{"id": "1", "items": {"zones/us-east1-b": {"instances": [{}]}}, "disks": [{}]}',
    "strings": '{"id": "1", "items": "x", "disks": "x", "labels": "x", "name": 5}',
}


def _code_of(call):
    """Return the status code of a call."""
    try:
        call()
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_malformed_response_is_not_an_internal_error(engine, cloud, vm, sample, body, caplog):
    token, inputs, method = sample.token, sample.inputs, sample.read_method
    made = engine.create(token, "kept", inputs)
    calls = {
        "refresh": lambda: engine.refresh(made),
        "import": lambda: engine.import_(token, "again", made.id),
        "update": lambda: engine.update(made, inputs),
        "list": lambda: engine.list(token, sample.query),
        "delete": lambda: engine.delete(made),
    }
    collection = method.rpartition(".")[0]
    lists = (method, f"{collection}.list", f"{collection}.aggregatedList")
    for what, call in calls.items():
        for called in lists:
            cloud.fail(called, times=1000, body=body)
        assert _code_of(call) not in {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN}, what
        cloud.emulator.faults.queue.clear()
    caplog.clear()
