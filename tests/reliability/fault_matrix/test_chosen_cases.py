"""Cases of the fault matrix that every run tries, and what members and keys of customers need besides.

Holds reliability.md: "Once the request for a creation has been sent".
"""

from __future__ import annotations

import pytest
from engines.disturbed import undisturbed
from engines.driver import failing, rpc, secret
from faults.fault_case import Case, run_case
from faults.fault_kinds import KINDS
from faults.fault_plan import ApiCall
from rolling.fleets import instance_path
from values.programs import (
    ATTACHMENT,
    DISK_KEY,
    FLEET,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    ZONE,
    attachment,
    fleet,
    notification,
    template,
)
from values.scenarios import FAULT_SCENARIOS

NO_CHANGE = rpc.DiffResponse.DIFF_NONE
INSERTS = {
    "template": "compute.instanceTemplates.insert",
    "image": "compute.machineImages.insert",
    "attachment": "compute.instances.attachDisk",
    "key": "oslogin.users.sshPublicKeys.create",
    "fleet": "compute.regionInstances.bulkInsert",
    "fleet_named": "compute.regionInstances.bulkInsert",
}


def _run(cloud, scenario, method, kind, recovery, *, lasts=False):
    """Run one case of the fault matrix, with the fault in the first call of a method."""
    (found,) = (item for item in FAULT_SCENARIOS if str(item) == scenario)
    case = Case(found, ApiCall(method, 1, changes=True), KINDS[kind], lasts, recovery)
    run_case(cloud, case, undisturbed(cloud, found))


@pytest.mark.parametrize("kind", ["cut_after_work", "lost"])
@pytest.mark.parametrize("recovery", ["up", "destroy"])
@pytest.mark.parametrize(("program", "method"), INSERTS.items())
def test_a_creation_whose_response_is_lost_for_good_is_kept_in_the_state(cloud, program, method, recovery, kind):
    _run(cloud, f"{program}.create", method, kind, recovery, lasts=True)


def test_what_is_attached_after_a_creation_that_came_to_nothing_is_detached_by_the_same_process(cloud):
    _run(cloud, "attachment_encrypted.create", INSERTS["attachment"], "html", "up_refresh", lasts=True)


@pytest.mark.parametrize("recovery", ["up", "destroy"])
def test_a_notification_whose_request_arrives_after_its_timeout_is_made_once(cloud, recovery):
    _run(cloud, "notification.create", "storage.notifications.insert", "late", recovery)


def test_a_notification_that_a_time_out_prevented_is_made(cloud):
    _run(cloud, "notification.create", "storage.notifications.insert", "lost", "up")


@pytest.mark.parametrize("recovery", ["up", "destroy"])
def test_a_member_that_is_listed_is_relabelled_although_google_once_did_not_find_it(cloud, recovery):
    _run(cloud, "fleet.relabel", "compute.instances.setLabels", "404", recovery)


@pytest.mark.parametrize("lasts", [False, True])
def test_a_member_that_is_listed_is_not_taken_for_deleted(cloud, lasts):
    method = "compute.instances.delete"

    _run(cloud, "fleet.scale_down", method, "404", "up", lasts=lasts)
    _run(cloud, "fleet.delete", method, "404", "destroy", lasts=lasts)


def test_a_member_that_is_listed_and_never_found_is_an_error(engine, cloud):
    made = engine.create(FLEET, "workers", fleet(2))
    cloud.fail("compute.instances.setLabels", times=100, status=404, message="not there")
    with failing() as failed:
        engine.update(made, fleet(2, labels={"a": "1"}))

    assert "although it is in the list of instances" in failed[0].message


def test_a_member_that_is_gone_is_left_out_of_a_change(engine, cloud):
    made = engine.create(FLEET, "workers", fleet(2))
    cloud.fail("compute.instances.setLabels", status=404, message="not there")
    cloud.emulator.store.delete(instance_path("web-001"))
    engine.update(made, fleet(2, labels={"a": "1"}))

    assert cloud.get(instance_path("web-002"))["labels"]["a"] == "1"


@pytest.mark.parametrize(
    ("token", "inputs", "method"),
    [
        (TEMPLATE, template(), "compute.instanceTemplates.delete"),
        (NOTIFICATION, notification(), "storage.notifications.delete"),
    ],
)
def test_what_google_still_returns_is_not_taken_for_deleted(engine, cloud, token, inputs, method):
    made = engine.create(token, "kept", inputs)
    cloud.fail(method, status=404, message="not there", times=2)  # a template is then deleted by its name
    with failing() as failed:
        engine.delete(made)
    cloud.emulator.faults.queue.clear()

    assert "not there" in failed[0].message
    engine.delete(made)
    assert engine.is_gone(made)


def test_an_imported_attachment_with_a_customers_key_needs_no_replacement(engine, cloud):
    disk = {"name": "example-data", "sizeGb": "50", "diskEncryptionKey": {"rawKey": DISK_KEY}}
    cloud.post(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/disks", disk)
    cloud.make_instance()
    inputs = attachment(deviceName="data", diskEncryptionKey={"rawKey": secret(DISK_KEY)})
    made = engine.create(ATTACHMENT, "kept", inputs)
    imported = engine.import_(ATTACHMENT, "kept", made.id)

    assert engine.diff(imported, inputs).changes == NO_CHANGE


@pytest.mark.parametrize(
    ("scenario", "method"),
    [("image.create", "compute.machineImages.insert"), ("template.create", "compute.instanceTemplates.insert")],
)
def test_an_id_of_the_wrong_type_is_not_the_id_of_what_was_created(cloud, scenario, method):
    _run(cloud, scenario, method, "wrong_types", "destroy")
