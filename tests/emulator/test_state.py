"""The whole state: saved, loaded, and kept in the file of `--data`."""

from __future__ import annotations

import sqlite3

import pytest
from values.programs import PROJECT
from workspace import emulator

from gcpx_emulator.testing import EmulatorError, RunningEmulator

STATE = "/_emulator/state"


@pytest.fixture
def seen(http):
    """A function that returns what the emulator shows: all resources and operations, the settings, and the day."""
    kinds = ("instances", "disks", "b", "topics", "limits")

    def look():
        operations = http.get(f"/compute/v1/projects/{PROJECT}/zones/us-east1-b/operations").json()
        day = http.get("/_emulator/clock").json()["time"][:10]
        return [http.get(f"/_emulator/resources?kind={kind}").json() for kind in kinds], operations, day

    return look


def test_a_saved_state_is_loaded_as_it_was(http, seen, vm):
    http.post("/_emulator/limits", json={"zones": {"us-east1-b": 5}})
    http.post("/_emulator/clock", json={"advance": 400 * 86400})
    before, state = seen(), http.get(STATE).content
    http.delete(f"/compute/v1/{vm}")
    http.post("/_emulator/limits", json={})
    http.post("/_emulator/clock", json={"advance": 400 * 86400})
    assert seen() != before

    assert http.put(STATE, content=state).json()["instances"] == 1
    assert seen() == before


def test_a_state_is_loaded_after_a_reset_and_work_goes_on(http, seen, vm):
    before, state = seen(), http.get(STATE).content
    http.post("/_emulator/reset")
    http.put(STATE, content=state)

    assert seen() == before
    made = http.post(f"/compute/v1/projects/{PROJECT}/zones/us-east1-b/disks", json={"name": "more", "sizeGb": "10"})
    assert made.status_code == 200
    ids = [disk["id"] for disk in http.get("/_emulator/resources?kind=disks").json().values()]
    assert len(set(ids)) == len(ids) == 3


def _with_other_tables(folder):
    file = folder / "other.sqlite"
    with sqlite3.connect(file) as other:
        other.execute("create table resources (path text)")
    other.close()
    return file.read_bytes()


@pytest.mark.parametrize("state", [b"", b"no database", b"SQLite format 3\0" + b"x" * 5000, _with_other_tables])
def test_anything_else_is_refused_and_changes_nothing(http, seen, vm, tmp_path, state):
    before = seen()
    answer = http.put(STATE, content=state if isinstance(state, bytes) else state(tmp_path))

    assert answer.status_code == 400
    assert "must be what a GET has returned, or a file of --data" in answer.json()["error"]["message"]
    assert seen() == before


def test_a_state_with_a_broken_resource_is_refused_and_changes_nothing(http, seen, vm, tmp_path):
    before, file = seen(), tmp_path / "state.sqlite"
    file.write_bytes(http.get(STATE).content)
    with sqlite3.connect(file) as broken:
        broken.execute("drop index by_age")
        broken.execute("drop index by_number")
        broken.execute("drop index by_due")
        broken.execute("update resources set body = '{' where path = ?", (vm,))
    broken.close()

    assert http.put(STATE, content=file.read_bytes()).status_code == 400
    assert seen() == before


VIEW = """
drop table resources;
create view resources as select '' as path, '' as collection, '{}' as body, 0 as number where false;
"""
CLOCKS = ['{"ahead": "long"}', '{"ahead": 1e300}', '{"ahead": -1e12}', '{"behind": 1}', "[1]"]


@pytest.mark.parametrize(
    "change", [VIEW, *(f"insert into resources values ('clock/all', 'clock', '{clock}', 99)" for clock in CLOCKS)]
)
def test_a_state_that_no_emulator_saved_is_refused_and_changes_nothing(http, seen, vm, change):
    before, state = seen(), sqlite3.connect(":memory:")
    state.deserialize(http.get(STATE).content)
    state.executescript(change)

    assert http.put(STATE, content=state.serialize()).status_code == 400
    assert seen() == before


def test_a_test_saves_and_loads_a_state(cloud, vm, tmp_path):
    running, file = RunningEmulator(cloud.host), tmp_path / "state.sqlite"
    running.save(file)
    running.reset()
    assert running.resource(vm) is None
    running.load(file)
    assert running.resource(vm) is not None
    file.write_text("something else")
    with pytest.raises(EmulatorError, match="must be what a GET has returned"):
        running.load(file)


def test_a_saved_state_is_a_file_of_data(cloud, vm, tmp_path):
    file = tmp_path / "state.sqlite"
    RunningEmulator(cloud.host).save(file)
    with emulator("--data", str(file)) as host:
        assert RunningEmulator(host).resource(vm) is not None


def test_a_restart_keeps_the_time(tmp_path):
    times = []
    for advance in (400 * 86400, 0):
        with emulator("--data", str(tmp_path / "data.sqlite")) as host:
            running = RunningEmulator(host)
            running.advance(advance)
            times.append(running.control("GET", "clock")["time"])

    assert times[1] >= times[0]
