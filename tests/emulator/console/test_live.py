"""What an open page gets while something changes."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager

import httpx
import pytest
from engines.clock import HANGS
from values.programs import PROJECT, ZONE, properties

from gcpx_emulator.console.fleets import MOST_TILES, Fleets, changes

BASE = f"/compute/v1/projects/{PROJECT}"
LABELS = {"gcpx-bulk": "web-1a2b3c4"}


@contextmanager
def page(cloud, parts, **query):
    """Open the stream of a page; gives an iterator of its news."""
    with (
        httpx.Client(trust_env=False, timeout=HANGS) as client,
        client.stream("GET", f"http://{cloud.host}/console/events", params={"parts": parts, **query}) as stream,
    ):
        assert stream.headers["content-type"].startswith("text/event-stream")
        yield (json.loads(line.removeprefix("data: ")) for line in stream.iter_lines() if line.startswith("data: "))


def _put(store, name, status="RUNNING", zone=ZONE, number=None, **more):
    path = f"projects/{PROJECT}/zones/{zone}/instances/{name}"
    store.put(path, {"id": number or name, "name": name, "status": status, "labels": LABELS} | more)
    return path


def _states(picture):
    """Return what each tile says of its instance's state."""
    tiles = [html for block in picture.blocks.values() for html in block.tiles.values()]
    return dict(re.search('aria-label="([^,]+), ([^"]+)"', html).groups() for html in tiles)


@pytest.fixture
def fleets(cloud):
    return Fleets(cloud.emulator.store)


def test_a_page_gets_everything_first_and_then_only_what_changed(cloud, vm):
    cloud.make_instance("other")
    with page(cloud, "fleets,operations") as news:
        first = next(news)
        cloud.emulator.store.put(vm, cloud.get(vm) | {"status": "STOPPING"})
        second = next(news)

    assert "example-vm" in first["whole"]
    assert "operations" in first["panels"]
    assert [(tile[0][0], "example-vm, stopping" in tile[3]) for tile in second["tiles"]] == [("t", True)]
    assert second["summary"] == "Other instances: 1 running, 1 stopping."
    assert "whole" not in second


def test_a_page_follows_an_instance_through_its_operations(cloud, http):
    with page(cloud, "fleets,operations") as news, cloud.held_operations():
        next(news)
        disk = {"boot": True, "initializeParams": {"sourceImage": "family/debian-12"}}
        body = {"name": "made", "machineType": f"zones/{ZONE}/machineTypes/e2-small", "disks": [disk]}
        http.post(f"{BASE}/zones/{ZONE}/instances", json=body).raise_for_status()
        made = next(item for item in news if "summary" in item)
        cloud.finish_operations()
        done = next(item for item in news if "summary" in item)

    assert "1 provisioning" in made["summary"]
    assert "1 running" in done["summary"]


def test_a_page_follows_a_fleet_while_it_is_made(cloud, http):
    cloud.emulator.operations.latency = 100.0
    with page(cloud, "fleets") as news:
        next(news)
        body = {"count": "3", "namePattern": "web-###", "instanceProperties": properties(labels=LABELS)}
        http.post(f"{BASE}/regions/us-east1/instances/bulkInsert", json=body).raise_for_status()
        summaries = [next(item for item in news if "summary" in item)["summary"]]
        for _ in range(2):
            cloud.clock.advance(50)
            summaries.append(next(item for item in news if "summary" in item)["summary"])

    assert [said.partition(": ")[2] for said in summaries] == ["3 provisioning.", "3 staging.", "3 running."]


def test_requests_are_live_and_filtered(cloud, http):
    with page(cloud, "requests", status="404") as news:
        next(news)
        http.get(f"{BASE}/regions/us-east1")
        http.get(f"{BASE}/regions/nowhere")
        found = next(item for item in news if "nowhere" in item["panels"]["requests"])

    assert re.findall(r"GET ([^<\s]+)", found["panels"]["requests"]) == [f"{BASE}/regions/nowhere"]


def test_unknown_parts_are_left_out(cloud):
    with page(cloud, "nothing,faults") as news:
        assert list(next(news)["panels"]) == ["faults"]


def test_nothing_is_drawn_again_while_nothing_changes(cloud, fleets, vm):
    assert fleets.look() is fleets.look()


def test_a_replaced_instance_is_another_tile(cloud, fleets):
    path = _put(cloud.emulator.store, "web-001", number="1")
    _put(cloud.emulator.store, "web-002")
    old = fleets.look()
    cloud.emulator.store.delete(path)
    without = fleets.look()
    _put(cloud.emulator.store, "web-001", "PROVISIONING", number="2")
    new = fleets.look()
    (gone,), ((_, added, following, html),) = changes(old, without)["gone"], changes(without, new)["tiles"]

    assert gone != added
    (block,) = old.blocks.values()
    assert [gone, following] == list(block.tiles)
    assert "web-001, provisioning" in html
    assert set(changes(old, new)) == {"heads", "gone", "tiles"}


def test_a_new_zone_is_drawn_with_all_others(cloud, fleets):
    _put(cloud.emulator.store, "web-001")
    old = fleets.look()
    _put(cloud.emulator.store, "web-002", zone="us-east1-c")

    assert set(changes(old, fleets.look())) == {"whole"}


def test_a_tile_tells_the_life_of_its_instance(cloud, http, fleets, vm):
    told = []
    cloud.change(vm, lambda body: body["scheduling"].update(provisioningModel="SPOT", preemptible=True))

    def look():
        cloud.emulator.operations.settle()
        told.append(_states(fleets.look())["example-vm"].partition(", e2")[0])

    look()
    http.post("/_emulator/guest-attributes", json={"instance": vm, "attributes": {"web/ready": "yes"}})
    look()
    http.post("/_emulator/preempt", json={"instances": [vm]}).raise_for_status()
    look()
    http.post(f"/compute/v1/{vm}/start").raise_for_status()
    look()
    http.post(f"/compute/v1/{vm}/stop").raise_for_status()
    look()

    assert told == [
        "running",
        "running, with guest attributes",
        "preempted",
        "running, with guest attributes",
        "terminated",
    ]


def test_the_generation_that_a_member_got_last_is_the_current_one(cloud, fleets):
    store, olds = cloud.emulator.store, []

    def roll(name, generation):
        _put(store, name, labels=LABELS | {"gcpx-generation": generation})
        olds.append({name for name, words in _states(fleets.look()).items() if "older generation" in words})

    roll("web-001", "a")
    roll("web-002", "a")
    roll("web-001", "b-changing")
    roll("web-001", "b")
    roll("web-002", "b")
    roll("web-001", "a")

    assert olds == [set(), set(), {"web-002"}, {"web-002"}, set(), {"web-002"}]


@pytest.mark.parametrize(
    ("names", "labels", "expected"),
    [
        (["web-001", "web-002", "db-1"], {}, {"web": 2, "Other instances": 1}),
        (["a1", "a2", "b"], {}, {"a": 2, "Other instances": 1}),
        (["x-1", "y-1"], LABELS, {"web-1a2b3c4": 2}),
    ],
)
def test_instances_are_grouped_by_their_label_or_the_beginning_of_their_names(cloud, fleets, names, labels, expected):
    for name in names:
        _put(cloud.emulator.store, name, labels=labels)
    heads = fleets.look().heads.values()
    found = {re.search("<h2>([^<]+) <", head)[1]: int(re.search(r"<b>(\d+)", head)[1]) for head in heads}

    assert found == expected


def test_tiles_are_ordered_by_number(cloud, fleets):
    for name in ("web-10", "web-9", "web-100"):
        _put(cloud.emulator.store, name)

    assert list(_states(fleets.look())) == ["web-9", "web-10", "web-100"]


def test_a_large_fleet_sends_only_what_changed_and_is_drawn_up_to_a_limit(cloud, fleets):
    rows = []
    for number in range(MOST_TILES + 5):
        path = f"projects/{PROJECT}/zones/{ZONE}/instances/web-{number:05}"
        body = {"id": str(number), "name": f"web-{number:05}", "status": "RUNNING", "labels": LABELS}
        rows.append((path, path.rpartition("/")[0], json.dumps(body), number))
    cloud.emulator.store.run_many("insert into resources values (?, ?, ?, ?)", rows)
    old = fleets.look()
    cloud.emulator.store.put(rows[7][0], json.loads(rows[7][2]) | {"status": "STOPPING"})
    new = fleets.look()

    assert "5 more instances are not drawn." in old.whole()
    assert len(changes(old, new)["tiles"]) == 1
    assert len(json.dumps(changes(old, new))) < 2000


def test_after_a_reset_the_page_is_empty(cloud, fleets, vm, http):
    http.post("/_emulator/host-error", json={"instances": [vm]})
    fleets.look()
    http.post("/_emulator/reset", json={})

    assert "No instances yet" in fleets.look().whole()
    cloud.make_instance()
    assert _states(fleets.look())["example-vm"].startswith("running")
