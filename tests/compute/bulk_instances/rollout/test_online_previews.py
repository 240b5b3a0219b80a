"""With `validateOnline`, the preview of a fleet reads its template, and says exactly what the update then does."""

from __future__ import annotations

from typing import Any

import pytest
from engines import driver
from rolling.fleets import instance_path
from rolling.preview_words import PreviewWords
from values.programs import DEBIAN, FLEET, PROJECT, one_at_a_time, properties

TEMPLATES = f"projects/{PROJECT}/global/instanceTemplates"
REGIONAL = f"projects/{PROJECT}/regions/us-east1/instanceTemplates"
READ = ("compute.instanceTemplates.get", "compute.regionInstanceTemplates.get")
BOOT = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": DEBIAN}}
LOCAL_SSD = {"type": "SCRATCH", "autoDelete": True, "initializeParams": {"diskType": "local-ssd"}}


@pytest.fixture
def online(cloud):
    with driver.engine(project=PROJECT, emulatorHost=cloud.host, validateOnline="true") as made:
        yield made


def make(cloud: Any, name: str, collection: str = TEMPLATES, **more: Any) -> None:
    """Make a template that the program of the fleet does not manage."""
    given = {"disks": [BOOT], "labels": {"tier": "web"}, "machineType": "n2-standard-2", **more}
    cloud.post(f"/compute/v1/{collection}", {"name": name, "properties": properties(**given)})


def program(link: str = "global/instanceTemplates/old", **more: Any) -> dict[str, Any]:
    return {
        "region": "us-east1",
        "count": 3,
        "namePattern": "web-###",
        "sourceInstanceTemplate": link,
        "updatePolicy": one_at_a_time(more.pop("policy", {})),
        **more,
    }


def words(engine: Any) -> PreviewWords:
    return PreviewWords.among([text for _, _, text in engine.log.messages])


def previewed(engine: Any, resource: Any, inputs: dict[str, Any], **more: Any) -> PreviewWords:
    """Run Check and the preview of an update, as the engine does; return what the preview says."""
    engine.log.messages.clear()
    engine.preview_update(resource, inputs, **more)
    return words(engine)


def done(cloud: Any, before: dict[str, dict[str, Any]]) -> dict[str, set[str]]:
    """Return what was done to members since `before`, by the words of previews."""
    requests = cloud.requests("compute.instances.stop")
    stopped = {request["path"].split("/instances/")[1].split("/")[0] for request in requests}
    found: dict[str, set[str]] = {}
    for name, item in before.items():
        now = cloud.get(instance_path(name, item["zone"].rpartition("/")[2]))
        if now is None or now["id"] != item["id"]:
            found.setdefault("replaced", set()).add(name)
        elif stopped & {name, item["id"]}:
            found.setdefault("restarted", set()).add(name)
        elif now["labels"] != item["labels"]:
            found.setdefault("changed without a restart", set()).add(name)
    return found


def members(cloud: Any, resource: Any) -> dict[str, dict[str, Any]]:
    return {
        item["name"]: cloud.get(instance_path(item["name"], item["zone"].rpartition("/")[2]))
        for item in resource.outputs["members"]
    }


CHANGES = {
    "labels": ({"labels": {"tier": "db"}}, "changed without a restart"),
    "machine type": ({"machineType": "n2-standard-4"}, "restarted"),
    "another series": ({"machineType": "c3-standard-4"}, "replaced"),
    "a local SSD": ({"disks": [BOOT, LOCAL_SSD]}, "replaced"),
    "nothing": ({}, None),
}


@pytest.mark.parametrize(("change", "what"), CHANGES.values(), ids=CHANGES)
def test_a_preview_that_asks_google_says_exactly_what_another_template_does(online, engine, cloud, change, what):
    make(cloud, "old")
    make(cloud, "new", **change)
    created = online.create(FLEET, "workers", program())
    before = members(cloud, created)
    inputs = program("global/instanceTemplates/new")
    offline = previewed(engine, created, inputs)
    said = previewed(online, created, inputs)

    assert not offline.of["replaced"].certain
    assert {kind for kind, item in said.of.items() if item.number} == ({what} if what else set())
    assert all(item.certain for item in said.of.values())
    online.update(created, inputs)
    assert done(cloud, before) == ({what: set(before)} if what else {})
    assert not what or said.of[what].names == set(before)


LINKS = {
    "path": "global/instanceTemplates/{name}",
    "path with project": f"{TEMPLATES}/{{name}}",
    "URL": f"https://www.googleapis.com/compute/v1/{TEMPLATES}/{{name}}",
    "URL of beta": f"https://compute.googleapis.com/compute/beta/{TEMPLATES}/{{name}}",
    "regional path": "regions/us-east1/instanceTemplates/{name}",
    "regional URL": f"https://www.googleapis.com/compute/v1/{REGIONAL}/{{name}}",
}


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_a_template_is_read_once_in_each_form_of_its_link(online, cloud, link):
    collection = REGIONAL if "regions/" in link else TEMPLATES
    make(cloud, "old", collection)
    make(cloud, "new", collection, machineType="n2-standard-4")
    created = online.create(FLEET, "workers", program(link.format(name="old")))
    cloud.emulator.requests.kept.clear()
    said = previewed(online, created, program(link.format(name="new")))

    assert said.members("restarted").number == 3
    assert said.members("restarted").certain
    read = [request["path"] for method in READ for request in cloud.requests(method)]
    assert [path.rpartition("/")[2] for path in read] == ["new"], "the state tells what the old one gave"
    online.update(created, program(link.format(name="new")))
    assert {item["machineType"].rpartition("/")[2] for item in members(cloud, created).values()} == {"n2-standard-4"}


def test_a_template_is_not_read_if_the_properties_stay(online, cloud):
    make(cloud, "old")
    created = online.create(FLEET, "workers", program())
    cloud.emulator.requests.kept.clear()
    previewed(online, created, program(count=5))

    assert not any(cloud.requests(method) for method in READ)


def test_a_template_that_may_not_be_read_leaves_at_most(online, cloud):
    make(cloud, "old")
    make(cloud, "new", labels={"tier": "db"})
    created = online.create(FLEET, "workers", program())
    cloud.fail(READ[0], status=403, reason="forbidden")
    said = previewed(online, created, program("global/instanceTemplates/new"))

    assert said.members("replaced").number == 3
    assert not said.members("replaced").certain
    warned = [text for severity, _, text in online.log.messages if severity == "WARNING"]
    assert any(text.startswith(f"validateOnline could not check {TEMPLATES}/new") for text in warned)


def test_a_new_template_that_does_not_exist_is_refused(online, cloud):
    make(cloud, "old")
    created = online.create(FLEET, "workers", program())
    failures = online.check(FLEET, "workers", program("global/instanceTemplates/new"), created.inputs).failures

    assert [failure.property for failure in failures] == ["sourceInstanceTemplate"]
    assert "new does not exist" in failures[0].reason


def test_a_fleet_whose_template_is_gone_can_be_previewed(online, cloud):
    make(cloud, "old")
    make(cloud, "new", labels={"tier": "db"})
    created = online.create(FLEET, "workers", program())
    cloud.emulator.store.delete(f"{TEMPLATES}/old")
    online.configure(project=PROJECT, emulatorHost=cloud.host, validateOnline="true")
    said = previewed(online, created, program(count=2))
    assert said.members("deleted").names == {"web-003"}
    said = previewed(online, created, program("global/instanceTemplates/new"))
    assert said.members("changed without a restart").number == 3
    online.update(created, program("global/instanceTemplates/new"))
    assert {item["labels"]["tier"] for item in members(cloud, created).values()} == {"db"}


@pytest.mark.parametrize(("given", "what"), [
    ({"machineType": "n2-standard-2"}, None), ({"machineType": "n2-standard-8"}, "restarted"),
    ({"labels": {"tier": "web"}}, None), ({"labels": {"more": "yes"}}, "changed without a restart"),
])  # fmt: skip
def test_what_overrides_a_template_counts_only_if_it_differs(online, cloud, given, what):
    make(cloud, "old")
    created = online.create(FLEET, "workers", program())
    before = members(cloud, created)
    inputs = program(instanceProperties=given)
    said = previewed(online, created, inputs)

    assert {kind for kind, item in said.of.items() if item.number} == ({what} if what else set())
    assert all(item.certain for item in said.of.values())
    online.update(created, inputs)
    assert done(cloud, before) == ({what: set(before)} if what else {})


@pytest.mark.parametrize(("limit", "words"), [
    ({"maxDeleted": 1}, "maxDeleted"),
    ({"policy": {"mostDisruptiveAction": "RESTART"}}, "mostDisruptiveAction: RESTART does not allow this change"),
])  # fmt: skip
def test_what_a_template_needs_beyond_the_policy_is_refused_before_the_update(online, engine, cloud, limit, words):
    make(cloud, "old")
    make(cloud, "new", disks=[BOOT, LOCAL_SSD])
    created = online.create(FLEET, "workers", program())
    engine.preview_update(created, program("global/instanceTemplates/new", **limit))
    with driver.failing() as failed:
        online.preview_update(created, program("global/instanceTemplates/new", **limit))

    assert words in failed[0].message


def test_members_that_have_a_local_ssd_are_replaced_where_others_are_restarted(online, cloud):
    make(cloud, "old", disks=[BOOT, LOCAL_SSD])
    make(cloud, "new", disks=[BOOT, LOCAL_SSD], machineType="n2-standard-4")
    created = online.create(FLEET, "workers", program())
    before = members(cloud, created)
    said = previewed(online, created, program("global/instanceTemplates/new"))

    assert {kind for kind, item in said.of.items() if item.number} == {"replaced"}
    assert said.members("replaced").certain
    online.update(created, program("global/instanceTemplates/new"))
    assert done(cloud, before) == {"replaced": set(before)}


def test_after_a_pause_the_preview_names_those_that_have_the_old_template(online, cloud):
    make(cloud, "old")
    make(cloud, "new", machineType="n2-standard-4")
    created = online.create(FLEET, "workers", program())
    paused = online.update(created, program("global/instanceTemplates/new", policy={"pauseAfter": 1}))
    said = previewed(online, paused, program("global/instanceTemplates/new"))
    assert said.members("restarted").number == 2
    said = previewed(online, paused, program())
    assert said.members("restarted").number == 1
    before = members(cloud, paused)
    cloud.emulator.requests.kept.clear()
    online.update(paused, program())
    assert done(cloud, before) == {"restarted": set(said.members("restarted").names)}


def test_a_template_that_is_not_known_yet_is_not_read(online, cloud):
    make(cloud, "old")
    created = online.create(FLEET, "workers", program())
    cloud.emulator.requests.kept.clear()
    said = previewed(online, created, program(driver.UNKNOWN))

    assert said.members("replaced").number == 3
    assert not said.members("replaced").certain
    assert not any(cloud.requests(method) for method in READ)
