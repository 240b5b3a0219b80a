"""Under the real CLI, what happens to a disk is no change of its attachment, and a stranger's notification stays."""

from __future__ import annotations

import pytest
from values.programs import ATTACHMENT, BUCKET, NOTIFICATION, PROJECT, ZONE, attachment, notification

pytestmark = pytest.mark.pulumi

DISK = f"projects/{PROJECT}/zones/{ZONE}/disks/example-data"
CONFIGS = f"b/{BUCKET}/notificationConfigs"


@pytest.mark.parametrize("declared", [{}, {"diskSizeGb": 50}], ids=["size left out", "size declared"])
def test_a_disk_that_grows_stays_attached(stack, cloud, vm, declared):
    stack.write(data={"type": ATTACHMENT, "properties": attachment(**declared)})
    stack.up()
    cloud.grow_disk(DISK, 100)
    said = stack.up("--refresh")

    assert "replaced" not in said
    assert cloud.calls("compute.instances.detachDisk", "compute.instances.attachDisk") == []
    assert stack.resource("data")["outputs"]["diskSizeGb"] == 100
    assert ("diskSizeGb is 50 in the program, but the disk has 100 GB" in said) is bool(declared)
    stack.assert_no_changes()


def _make_bucket_anew(cloud):
    """Delete the bucket and make it anew, and create a configuration of somebody else in it; return that."""
    cloud.make_bucket_anew()
    cloud.post(f"/storage/v1/{CONFIGS}", {"topic": "projects/other/topics/audit", "payload_format": "NONE"})
    return cloud.get(f"{CONFIGS}/1")


def test_a_strangers_notification_is_neither_taken_over_nor_deleted(stack, cloud, vm):
    stack.write(events={"type": NOTIFICATION, "properties": notification()})
    stack.up()
    strangers = _make_bucket_anew(cloud)
    said = stack.up("--refresh")

    assert "1 created" in said
    assert stack.resource("events")["id"] == f"{BUCKET}/notificationConfigs/2"
    assert cloud.get(f"{CONFIGS}/1") == strangers
    stack.assert_no_changes()
    stack.destroy()
    assert cloud.get(f"{CONFIGS}/1") == strangers
    assert cloud.get(f"{CONFIGS}/2") is None


def test_destroying_leaves_a_strangers_notification_and_names_it(stack, cloud, vm):
    stack.write(events={"type": NOTIFICATION, "properties": notification()})
    stack.up()
    strangers = _make_bucket_anew(cloud)
    done = stack.workspace.run("destroy", "--yes", "--skip-preview")

    assert cloud.get(f"{CONFIGS}/1") == strangers
    assert f"{BUCKET}/notificationConfigs/1 was not deleted" in done.stdout + done.stderr
    assert stack.resources()[1:] == []
