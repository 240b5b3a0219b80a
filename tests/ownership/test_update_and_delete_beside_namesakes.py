"""What others create under the name of something of ours: a change of ours does not reach it.

Holds reliability.md: "Three facts decide"; "A name or a label never"; "A number does"; "What is promised".
"""

from __future__ import annotations

import pytest
from engines.driver import failing
from rolling.fleets import instance_path
from servers import plain_http
from values.programs import FLEET, IMAGE, PROJECT, TEMPLATE, VM, fleet, image, template

IMAGE_PATH = f"projects/{PROJECT}/global/machineImages/golden"
TEMPLATE_PATH = f"projects/{PROJECT}/global/instanceTemplates/web"
DELETE = "compute.instances.delete"
OF_IMAGE = (IMAGE, image(name="golden"), IMAGE_PATH, {"name": "golden", "sourceInstance": VM})
OF_TEMPLATE = (TEMPLATE, {"name": "web", **template()}, TEMPLATE_PATH, {"name": "web", **template()})


def _replace(cloud, path, body):
    """Delete something of ours, and create a namesake, as somebody else does."""
    cloud.emulator.store.delete(path)
    url = f"http://{cloud.host}/compute/beta/{path.rpartition('/')[0]}"
    plain_http.post(url, json=body).raise_for_status()
    cloud.emulator.operations.settle()


def test_labels_of_a_namesake_stay_as_they_are(engine, cloud, vm):
    ours = engine.create(IMAGE, "golden", image(name="golden", labels={"team": "ours"}))
    _replace(cloud, IMAGE_PATH, {"name": "golden", "sourceInstance": VM, "labels": {"team": "theirs"}})
    with failing() as failed:
        engine.update(ours, image(name="golden", labels={"team": "new"}))

    assert "machineImages/golden: the resource in the state no longer exists" in failed[0].message
    assert cloud.get(IMAGE_PATH)["labels"] == {"team": "theirs"}


def test_labels_of_a_namesake_that_comes_after_the_read_stay_as_they_are(engine, cloud, vm):
    ours = engine.create(IMAGE, "golden", image(name="golden", labels={"team": "ours"}))

    def replace(_, request):
        if request.endswith("/setLabels") and cloud.get(IMAGE_PATH)["labels"] == {"team": "ours"}:
            body = {"name": "golden", "sourceInstance": VM, "labels": {"team": "theirs"}}
            cloud.emulator.store.put(IMAGE_PATH, cloud.get(IMAGE_PATH) | body | {"id": cloud.emulator.store.new_id()})

    with cloud.interceptor.observed(replace), failing() as failed:
        engine.update(ours, image(name="golden", labels={"team": "new"}))

    assert "machineImages/golden: the resource in the state no longer exists" in failed[0].message
    assert cloud.get(IMAGE_PATH)["labels"] == {"team": "theirs"}


@pytest.mark.parametrize(("token", "inputs", "path", "body"), [OF_IMAGE, OF_TEMPLATE], ids=["image", "template"])
class TestDeletions:
    def test_a_deletion_sends_the_numeric_id_and_reads_nothing(self, engine, cloud, vm, token, inputs, path, body):
        ours = engine.create(token, "ours", inputs)
        number = cloud.get(path)["id"]
        cloud.emulator.requests.kept.clear()
        engine.delete(ours)
        collection = f"compute.{path.split('/')[3]}"

        assert cloud.calls(collection) == [f"{collection}.delete"]
        assert cloud.requests(f"{collection}.delete")[0]["path"].endswith(f"/{number}")
        assert cloud.get(path) is None

    @pytest.mark.parametrize("status", [400, 403, 404])
    def test_where_a_numeric_id_is_refused_the_name_is_used(self, engine, cloud, vm, token, inputs, path, body, status):
        ours = engine.create(token, "ours", inputs)
        collection = f"compute.{path.split('/')[3]}"
        cloud.fail(f"{collection}.delete", status=status)
        engine.delete(ours)

        assert cloud.get(path) is None
        assert cloud.requests(f"{collection}.delete")[1]["path"].endswith(f"/{path.rpartition('/')[2]}")

    def test_where_a_numeric_id_is_refused_a_namesake_is_not_deleted(
        self, engine, cloud, vm, token, inputs, path, body
    ):
        ours = engine.create(token, "ours", inputs)
        _replace(cloud, path, body)
        cloud.fail(f"compute.{path.split('/')[3]}.delete", status=403)
        engine.delete(ours)

        assert cloud.get(path) is not None

    def test_messages_have_the_name(self, engine, cloud, vm, token, inputs, path, body):
        ours = engine.create(token, "ours", inputs)
        cloud.fail(f"compute.{path.split('/')[3]}.delete", status=403, message="no", times=2)
        with failing() as failed:
            engine.delete(ours)

        assert f"DELETE {path}: no" in failed[0].message
        assert f"on {path}" in failed[0].message


def test_an_instance_that_replaces_a_member_before_its_deletion_is_left(engine, cloud):
    ours = engine.create(FLEET, "web", fleet(count=2))
    path = instance_path("web-001")
    theirs = {**cloud.get(path), "id": "77"}

    def replace(_, request):
        if request.startswith("DELETE "):
            cloud.emulator.store.put(path, theirs)

    with cloud.interceptor.observed(replace):
        engine.delete(ours)

    assert cloud.get(path)["id"] == "77"
    assert cloud.get(instance_path("web-002")) is None


def test_members_are_changed_by_name_where_their_numeric_ids_are_refused(engine, cloud):
    ours = engine.create(FLEET, "web", fleet(count=2))
    cloud.fail(DELETE, status=403, times=2)
    engine.delete(ours)

    assert cloud.get(instance_path("web-001")) is cloud.get(instance_path("web-002")) is None


def _is_robbed_between(cloud, is_change):
    """Return an observer that gives the name of our image to another one between the two requests of a change."""
    seen = []

    def observe(_, request):
        if is_change(request):
            seen.append(request)
            if len(seen) == 2:
                cloud.emulator.store.put(IMAGE_PATH, cloud.get(IMAGE_PATH) | {"id": "77"})

    return observe


def _warnings(engine):
    return [said for severity, _, said in engine.log.messages if severity == "WARNING"]


def test_a_deletion_by_name_that_reaches_a_namesake_is_told(engine, cloud, vm):
    ours = engine.create(IMAGE, "golden", image(name="golden"))
    cloud.fail("compute.machineImages.delete", status=403)
    with cloud.interceptor.observed(_is_robbed_between(cloud, lambda request: request.startswith("DELETE"))):
        engine.delete(ours)

    assert len(_warnings(engine)) == 1
    assert "the request reached another resource (numeric ID 77)" in _warnings(engine)[0]


def test_a_change_by_name_that_reaches_a_namesake_is_told(engine, cloud, vm):
    ours = engine.create(IMAGE, "golden", image(name="golden"))
    cloud.fail("compute.machineImages.setLabels", status=403)
    with (
        cloud.interceptor.observed(_is_robbed_between(cloud, lambda request: request.endswith("setLabels"))),
        failing() as failed,
    ):
        engine.update(ours, image(name="golden", labels={"team": "ours"}))

    assert "the resource in the state no longer exists" in failed[0].message
    assert "the request reached another resource (numeric ID 77)" in _warnings(engine)[0]
