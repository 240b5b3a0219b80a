"""MachineImage: contents, labels, encryption keys, and failures."""

from __future__ import annotations

import grpc
import pytest
from engines import driver
from engines.driver import failing, secret
from values.programs import IMAGE, PROJECT, image

NO_CHANGE = driver.rpc.DiffResponse.DIFF_NONE
PATH = f"projects/{PROJECT}/global/machineImages/golden"
RAW_KEY = "c2VjcmV0LWtleS1vZi0zMi1ieXRlcy1wcmVjaXNlbHk="


@pytest.mark.parametrize(
    ("inputs", "path", "words"),
    [
        ({}, "sourceInstance", "is required"),
        (image(sourceInstance="vm"), "sourceInstance", "zones/ZONE/instances/NAME"),
        (
            image(params={"excludedDisks": ["a"], "includedDisks": ["b"]}),
            "params.includedDisks",
            "conflicts with excludedDisks",
        ),
        (
            image(machineImageEncryptionKey={"rawKey": RAW_KEY, "kmsKeyName": "b"}),
            "machineImageEncryptionKey.rawKey",
            "conflicts with kmsKeyName",
        ),
        (image(status="READY"), "status", "Google Cloud sets it"),
    ],
)
def test_wrong_inputs_are_refused_by_path(engine, inputs, path, words):
    assert words in engine.failures(IMAGE, inputs)[path]


def test_an_image_has_outputs_for_its_contents(engine, cloud, vm):
    created = engine.create(IMAGE, "golden", image(name="golden", guestFlush=True, params={"excludedDisks": ["none"]}))
    sent = cloud.requests("compute.machineImages.insert")[0]

    assert sent["path"].startswith("/compute/beta/")
    assert sent["query"]["sourceInstance"] == sent["body"]["sourceInstance"] == "zones/us-east1-b/instances/example-vm"
    assert created.id == PATH
    assert created.outputs["status"] == "READY"
    assert created.outputs["totalStorageBytes"] == created.outputs["savedDisks"][0]["storageBytes"] > 0
    assert created.outputs["instanceProperties"]["machineType"] == "e2-medium"
    assert created.outputs["guestFlush"] is True, "what Google does not return is kept"
    assert engine.refresh(created) == created


def test_labels_change_in_place_and_labels_of_other_tools_stay(engine, cloud, vm):
    created = engine.create(IMAGE, "golden", image(name="golden", labels={"a": "1"}))
    cloud.change(PATH, lambda body: body["labels"].update({"goog-terraform-provisioned": "true"}))
    assert engine.drift(created) == set()
    updated = engine.update(created, image(name="golden", labels={"a": "2"}))

    assert updated.outputs["labels"]["a"] == "2"
    assert cloud.get(PATH)["labels"] == {"a": "2", "goog-terraform-provisioned": "true"}


def test_a_label_that_is_null_is_left_out_of_the_creation_and_of_updates(engine, cloud, vm):
    created = engine.create(IMAGE, "golden", image(name="golden", labels={"a": "1", "b": None}))
    updated = engine.update(created, image(name="golden", labels={"a": "2", "b": None}))
    (sent,) = cloud.requests("compute.machineImages.setLabels")
    emptied = engine.update(updated, image(name="golden", labels={"a": None}))
    engine.update(emptied, image(name="golden", labels={}))

    assert cloud.requests("compute.machineImages.insert")[0]["body"]["labels"] == {"a": "1"}
    assert sent["body"]["labels"] == {"a": "2"}
    assert [request["body"]["labels"] for request in cloud.requests("compute.machineImages.setLabels")[1:]] == [{}]


@pytest.mark.parametrize(
    "stale",
    [
        {"status": 412, "reason": "conditionNotMet"},
        {"operation": {"errors": [{"code": "CONDITION_NOT_MET"}], "httpErrorStatusCode": 412}},
    ],
    ids=["response", "operation"],
)
def test_labels_are_read_again_if_someone_else_changed_them_meanwhile(engine, cloud, vm, stale):
    created = engine.create(IMAGE, "golden", image(name="golden"))
    cloud.fail("compute.machineImages.setLabels", **stale)
    updated = engine.update(created, image(name="golden", labels={"a": "1"}))

    assert updated.outputs["labels"] == cloud.get(PATH)["labels"] == {"a": "1"}
    assert len(cloud.requests("compute.machineImages.setLabels")) == 2


def test_keys_are_secret_and_cause_no_change_though_google_does_not_return_them(engine, vm):
    key = {"rawKey": RAW_KEY}
    inputs = image(
        name="golden",
        machineImageEncryptionKey=key,
        sourceDiskEncryptionKeys=[{"sourceDisk": "d", "diskEncryptionKey": key}],
    )
    created = engine.create(IMAGE, "golden", inputs)

    for place in (
        created.outputs["machineImageEncryptionKey"],
        created.outputs["sourceDiskEncryptionKeys"][0]["diskEncryptionKey"],
    ):
        assert place["rawKey"] == secret(RAW_KEY)
    assert engine.diff(created, inputs).changes == NO_CHANGE


def test_a_failed_creation_leaves_nothing_in_the_state(engine, cloud, vm):
    cloud.fail(
        "compute.machineImages.insert",
        operation={"errors": [{"code": "RESOURCE_NOT_READY", "message": "the disk is busy"}]},
    )
    with failing() as failed:
        engine.create(IMAGE, "golden", image(name="golden"))

    assert failed[0].partial is None
    assert "the disk is busy" in failed[0].message
    assert failed[0].code == grpc.StatusCode.FAILED_PRECONDITION


def test_a_preview_says_that_the_data_of_a_named_image_is_deleted_first(engine, cloud, vm):
    named, generated = engine.create(IMAGE, "golden", image(name="golden")), engine.create(IMAGE, "other", image())
    cloud.delete(vm)
    engine.log.messages.clear()
    engine.diff(generated, image(description="monthly"))
    engine.diff(named, image(name="golden-2", description="monthly"))
    engine.diff(named, image(name="golden", labels={"a": "1"}))
    assert engine.log.messages == []
    found = engine.diff(named, image(name="golden", description="monthly"))

    assert found.deleteBeforeReplace
    ((severity, urn, said),) = engine.log.messages
    assert (severity, urn) == ("WARNING", named.urn)
    assert "image golden and its data are deleted before" in said
