"""Faults of Google's APIs neither duplicate nor lose a resource, and errors say what to do next.

Holds reliability.md: "the number in another resource of this stack"; "any of these".
"""

from __future__ import annotations

import re
import shlex

import attrs
import grpc
import pytest
from engines import driver
from engines.clock import HOUR
from engines.driver import failing
from values.programs import ATTACHMENT, FLEET, IMAGE, PROJECT, TEMPLATE, attachment, fleet, image, template

from gcpx.model.naming import CREATION, CreationMark

INSERT = "compute.instanceTemplates.insert"
WEB = {"name": "web", **template()}
PATH = f"projects/{PROJECT}/global/instanceTemplates/web"


def _request_ids(cloud):
    return [entry["query"]["requestId"] for entry in cloud.requests(INSERT)]


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 503},
        {"status": 500},
        {"status": 429, "reason": "rateLimitExceeded"},
        {"status": 403, "reason": "rateLimitExceeded", "message": "Rate Limit Exceeded"},
        {"status": 409, "reason": "resourceNotReady", "message": "The resource is not ready"},
        {"drop": "before"},
        {"drop": "after"},
        {"body": "<html>not JSON"},
    ],
    ids=str,
)
def test_a_retry_after_a_transient_fault_reuses_the_request_id(clocked_engine, cloud, fault):
    cloud.fail(INSERT, **fault)
    created = clocked_engine.create(TEMPLATE, "web", WEB)
    ids = _request_ids(cloud)

    assert created.id == PATH
    assert (len(ids), len(set(ids))) == (2, 1)
    assert cloud.emulator.store.counts()["instanceTemplates"] == 1


def test_faults_while_waiting_do_not_fail_the_operation(clocked_engine, cloud):
    cloud.emulator.operations.latency = HOUR
    cloud.fail("compute.globalOperations.wait", status=503, times=2)
    cloud.fail("compute.globalOperations.wait", drop="before")

    assert clocked_engine.create(TEMPLATE, "web", WEB).id == PATH
    assert cloud.emulator.faults.queue == []


def test_the_progress_of_an_operation_is_shown_though_it_cannot_be_read_at_first(clocked_engine, cloud):
    cloud.fail("compute.globalOperations.wait", status=503)
    created = clocked_engine.create(TEMPLATE, "web", WEB)

    said = clocked_engine.log.wait_for(2, created.urn)
    assert "insert global/instanceTemplates/web: 0%" in said


def test_operations_are_polled_if_they_cannot_be_waited_for(engine, cloud):
    cloud.fail("compute.globalOperations.wait", status=501)

    assert engine.create(TEMPLATE, "web", WEB).id == PATH
    assert "compute.globalOperations.get" in cloud.calls()


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        ({"status": 401, "message": "Invalid Credentials"}, "UNAUTHENTICATED", "gcloud auth application-default login"),
        (
            {"status": 403, "message": "Required 'compute.instanceTemplates.create' permission"},
            "PERMISSION_DENIED",
            "Grant the named permission",
        ),
        (
            {"status": 403, "reason": "quotaExceeded", "message": "Quota 'INSTANCE_TEMPLATES' exceeded"},
            "RESOURCE_EXHAUSTED",
            "request a higher quota",
        ),
        (
            {"status": 404, "message": "The resource 'projects/demo-project' was not found"},
            "NOT_FOUND",
            "projects/demo-project",
        ),
        ({"status": 412, "message": "Condition not met"}, "ABORTED", "Condition not met"),
        ({"status": 400, "message": "Invalid value for field"}, "INVALID_ARGUMENT", "Invalid value for field"),
    ],
)
def test_a_refusal_names_the_call_the_reason_and_the_next_step(engine, cloud, fault, code, words):
    cloud.fail(INSERT, **fault)
    with failing() as failed:
        engine.create(TEMPLATE, "web", WEB)

    assert failed[0].code == grpc.StatusCode[code]
    assert failed[0].message.startswith("POST projects/demo-project/global/instanceTemplates: ")
    assert fault["message"] in failed[0].message
    assert words in failed[0].message


@pytest.mark.parametrize(
    ("token", "inputs", "insert"),
    [
        (TEMPLATE, WEB, INSERT),
        (FLEET, fleet(2), "compute.regionInstances.bulkInsert"),
        (ATTACHMENT, attachment(), "compute.instances.attachDisk"),
        (IMAGE, image(), "compute.machineImages.insert"),
    ],
)
def test_a_failed_operation_names_the_field_that_caused_it(engine, cloud, vm, token, inputs, insert):
    errors = [
        {"code": "INVALID_FIELD_VALUE", "message": "Too small.", "location": "properties.disks[0].diskSizeGb"},
        {"code": "INVALID_USAGE", "message": "Not with this machine type."},
    ]
    cloud.fail(insert, operation={"errors": errors})
    with failing() as failed:
        engine.create(token, "a", inputs)

    assert "Too small (caused by the field `properties.disks[0].diskSizeGb`)" in failed[0].message
    assert "Not with this machine type (INVALID" in failed[0].message


def test_deleting_a_template_in_use_is_retried_and_then_reported(clocked_engine, cloud):
    created = clocked_engine.create(TEMPLATE, "web", WEB)
    in_use = {
        "status": 400,
        "reason": "resourceInUseByAnotherResource",
        "message": "web is already being used by group-1",
    }
    cloud.fail("compute.instanceTemplates.delete", **in_use)
    clocked_engine.delete(created)

    assert cloud.get(PATH) is None
    again = clocked_engine.create(TEMPLATE, "other", {**WEB, "name": "other"})
    cloud.fail("compute.instanceTemplates.delete", times=9, **in_use)
    with failing() as failed:
        clocked_engine.delete(again)
    assert "group-1" in failed[0].message


@pytest.mark.parametrize(
    ("extra", "version"),
    [
        ({}, "v1"),
        ({"scheduling": {"hostErrorTimeoutSeconds": 90}}, "beta"),
        ({"partnerMetadata": {"a.example": {"entries": {"k": [1, {"x": None}]}}}}, "beta"),
        ({"displayDevice": {"enableDisplay": True}}, "beta"),
        ({"displayDevice": {"enableDisplay": False}}, "beta"),
        (
            {"disks": [{"boot": True, "userLicenses": ["l"], "initializeParams": {"sourceImage": "family/debian-12"}}]},
            "beta",
        ),
        (
            {"disks": [{"boot": True, "initializeParams": {"sourceImage": "family/debian-12", "multiWriter": True}}]},
            "beta",
        ),
        ({"networkInterfaces": [{"aliasIpRanges": [{"candidateSubnetworkRangeNames": ["a"]}]}]}, "beta"),
    ],
    ids=str,
)
@pytest.mark.parametrize("region", [None, "us-east1"])
def test_a_beta_field_uses_the_beta_path(engine, cloud, extra, version, region):
    inputs = {"name": "web", **template(**extra), **({"region": region} if region else {})}
    created = engine.create(TEMPLATE, "web", inputs)
    inserted = next(
        entry for entry in cloud.emulator.requests.kept if entry["method"].endswith("nstanceTemplates.insert")
    )

    assert inserted["path"].startswith(f"/compute/{version}/projects/")
    assert engine.refresh(created) == created
    imported = engine.import_(TEMPLATE, "web", created.id)
    assert engine.diff(imported, inputs).changes == driver.rpc.DiffResponse.DIFF_NONE


def test_a_unique_link_imports_only_that_template(engine, cloud):
    created = engine.create(TEMPLATE, "web", WEB)
    unique = created.outputs["selfLinkUnique"]
    imported = engine.import_(TEMPLATE, "web", unique)

    assert imported is not None
    assert imported.id == PATH
    cloud.change(PATH, lambda body: body.update(id="42"))
    with failing() as failed:
        engine.import_(TEMPLATE, "web", unique)
    assert failed[0].code == grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize(("token", "inputs"), [(TEMPLATE, template()), (FLEET, fleet(2))])
def test_a_resource_can_be_created_and_deleted_repeatedly(engine, token, inputs):
    """Stacks for tests do this with constant names, while Google remembers request IDs for a long time."""
    for _ in range(10):
        made = engine.create(token, "often", inputs)
        assert engine.refresh(made) is not None
        engine.delete(made)
        assert engine.is_gone(made)


def _image(name):
    return template(
        disks=[{"boot": True, "initializeParams": {"sourceImage": f"projects/debian-cloud/global/images/{name}"}}]
    )


def test_a_deprecated_image_is_a_warning_that_names_its_replacement(engine):
    engine.create(TEMPLATE, "old", _image("debian-11-bullseye-v20251009"))

    (said,) = [text for severity, _, text in engine.log.messages if severity == "WARNING"]
    assert "is deprecated" in said
    assert "debian-12-bookworm" in said


@pytest.mark.parametrize(
    ("name", "state"), [("debian-10-buster-v20240612", "OBSOLETE"), ("debian-9-stretch-v20220621", "DELETED")]
)
def test_an_obsolete_image_is_refused(engine, name, state):
    with failing() as failures:
        engine.create(TEMPLATE, "old", _image(name))

    assert state in failures[0].message


def test_what_a_renamed_resource_replaces_is_deleted_under_its_former_name(engine, cloud):
    old = engine.create(TEMPLATE, "old", WEB)
    renamed = attrs.evolve(old, urn=engine.urn(TEMPLATE, "new"))
    assert engine.diff(renamed, {**WEB, "description": "changed"}).replaces
    engine.delete(old)

    assert cloud.get(PATH) is None


def test_the_command_in_the_warning_about_a_kept_resource_can_be_copied(engine):
    created = engine.create(TEMPLATE, "it's $(here)", template())
    engine.diff(
        attrs.evolve(created, outputs={**created.outputs, CREATION: attrs.asdict(CreationMark("mark", adopted=True))}),
        template(),
    )
    engine.delete(created)

    (warning,) = [text for severity, _, text in engine.log.messages if severity == "WARNING"]
    (command,) = re.findall(r"`(pulumi up [^`]+)`", warning)
    assert shlex.split(command)[-1] == created.urn


def test_what_a_renamed_resource_has_before_a_forced_replacement_is_deleted(engine, cloud):
    old = engine.create(TEMPLATE, "old", WEB)
    renamed = attrs.evolve(old, urn=engine.urn(TEMPLATE, "new"))
    assert not engine.diff(renamed, WEB).replaces
    engine.check(TEMPLATE, "new", WEB)  # as the engine does before a replacement
    engine.delete(old)

    assert cloud.get(PATH) is None


def test_what_a_renamed_resource_no_longer_has_after_a_forced_replacement_is_deleted(engine, cloud):
    old = engine.create(TEMPLATE, "old", template())
    renamed = attrs.evolve(old, urn=engine.urn(TEMPLATE, "new"))
    assert not engine.diff(renamed, template()).replaces
    made = engine.create(TEMPLATE, "new", template())
    assert made.id != old.id
    engine.delete(old)

    assert cloud.get(old.id) is None


def test_what_is_created_under_a_new_name_after_it_was_gone_is_used(engine, cloud):
    cloud.emulator.operations.done_at_once = True
    old = engine.create(TEMPLATE, "old", WEB)
    cloud.clock.advance(5.0)
    cloud.delete(PATH)
    cloud.clock.advance(5.0)
    engine.next_run()
    assert engine.is_gone(old)

    assert engine.create(TEMPLATE, "new", WEB).id == PATH
