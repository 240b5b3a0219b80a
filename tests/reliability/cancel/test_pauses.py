"""A cancellation ends every pause of the plugin at once: between retries, for a lock, for a rate, for readiness."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from engines import driver
from engines.driver import failing
from google.protobuf import empty_pb2
from values.programs import ATTACHMENT, FLEET, KEY, TEMPLATE, attachment, fleet, key, template

WEB = {"name": "web", **template()}
NEVER_READY = {
    "updatePolicy": {"maxUnavailable": 1, "ready": {"guestAttribute": "app/never", "within": 3600}},
    "metadata": {"items": [{"key": "enable-guest-attributes", "value": "TRUE"}]},
}


def _create(engine, token, inputs):
    return engine.create(token, "kept", inputs)


def _delete(engine, token, inputs):
    return engine.delete(engine.create(token, "kept", inputs))


def _roll(engine, token, inputs):
    return engine.update(
        engine.create(token, "kept", inputs), {**inputs, **fleet(2, machineType="e2-medium", **NEVER_READY)}
    )


@pytest.mark.parametrize(
    ("run", "token", "inputs", "fault", "pausing"),
    [
        (_create, TEMPLATE, WEB, {"method": "compute.instanceTemplates.insert", "status": 429, "retry_after": 30}, "trying again in 30"),
        (_create, TEMPLATE, WEB, {"method": "compute.instanceTemplates.get", "status": 403, "reason": "rateLimitExceeded"}, "trying again in"),
        (_create, KEY, key(), {"method": "oslogin.users.sshPublicKeys.get", "status": 404, "message": "not there yet"}, "waiting until Google returns the key"),
        (_delete, TEMPLATE, WEB, {"method": "compute.instanceTemplates.delete", "status": 400, "reason": "resourceInUseByAnotherResource"}, "is still in use"),
        (_roll, FLEET, fleet(2, **NEVER_READY), None, "waiting for"),
    ],
    ids=["Retry-After", "rate limit", "key", "in use", "readiness"],
)  # fmt: skip
def test_a_cancellation_ends_a_pause(engine, cloud, run, token, inputs, fault, pausing):
    if fault is not None:
        cloud.fail(**fault, times=1000)
    with ThreadPoolExecutor() as pool, failing() as failed:
        call = pool.submit(run, engine, token, inputs)
        engine.log.wait_until_said(pausing)
        engine.stub.Cancel(empty_pb2.Empty())
        call.result()

    assert failed[0].code != driver.grpc.StatusCode.INTERNAL


def test_a_cancellation_ends_the_wait_for_another_change_of_the_same_instance(engine, cloud, vm):
    cloud.make_disk("other")
    inputs = [attachment(), attachment(disk="other")]
    checked = [engine.checked(ATTACHMENT, f"a-{number}", item) for number, item in enumerate(inputs)]
    requests = [
        driver.rpc.CreateRequest(urn=engine.urn(ATTACHMENT, f"a-{number}"), properties=driver.struct(item))
        for number, item in enumerate(checked)
    ]
    cloud.interceptor.hold(1, "before the work")
    first = engine.stub.Create.future(requests[0])
    cloud.interceptor.wait_until_held()
    second = engine.stub.Create.future(requests[1])
    engine.stub.Cancel(empty_pb2.Empty())
    for call, kept in ((first, True), (second, False)):
        with failing() as failed:
            call.result()
        assert (failed[0].partial is not None) == kept
        assert "cancelled" in failed[0].message
    cloud.interceptor.drain()


def test_a_pause_for_the_rate_of_another_request_ends(engine, cloud):
    """A Retry-After holds back all requests to the API, also those of other resources."""
    cloud.fail("compute.instanceTemplates.insert", status=429, retry_after=30)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(_create, engine, TEMPLATE, WEB)
        engine.log.wait_until_said("trying again in 30")
        second = pool.submit(engine.import_, TEMPLATE, "other", "projects/demo-project/global/instanceTemplates/other")
        engine.stub.Cancel(empty_pb2.Empty())
        for call in (first, second):
            with failing():
                call.result()

    assert cloud.calls() == ["compute.instanceTemplates.insert"]
