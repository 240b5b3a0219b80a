"""Under the real CLI, what somebody else created under our name is neither changed nor deleted."""

from __future__ import annotations

import pytest
from values.programs import IMAGE, PROJECT, VM, image

pytestmark = pytest.mark.pulumi

PATH = f"projects/{PROJECT}/global/machineImages/golden"


def _program(labels):
    return {"golden": {"type": IMAGE, "properties": image(name="golden", labels=labels)}}


def test_an_image_of_somebody_else_under_our_name_stays_as_it_is(stack, cloud, vm):
    stack.write(**_program({"team": "ours"}))
    stack.up()
    cloud.emulator.store.delete(PATH)
    theirs = {"name": "golden", "sourceInstance": VM, "labels": {"team": "theirs"}}
    cloud.post(f"/compute/beta/projects/{PROJECT}/global/machineImages", theirs)
    before = cloud.get(PATH)
    stack.write(**_program({"team": "new"}))
    printed = stack.up_fails()
    stack.destroy()

    assert "machineImages/golden: the resource in the state no longer exists" in printed
    assert cloud.get(PATH) == before
