"""An update does to no member more than its preview has said, also after a kill, beside a pause and in a rollback."""

from __future__ import annotations

from collections import Counter

import pytest
from engines.stack import Stack
from rolling.fleets import instance_path, stop
from rolling.preview_words import PreviewWords
from rolling.rollouts import BIGGER_DISK, BROKEN, BULK, DELETE, SET_LABELS, STOP, rolling
from servers.surroundings import prepare
from values.programs import FLEET, fleet

MEDIUM = {"machineType": "e2-medium"}
PAUSED = {"pauseAfter": 2}


@pytest.fixture
def stack(cloud):
    """A stack whose requests arrive one after the other."""
    prepare(cloud)
    made = Stack(cloud, FLEET, "workers", parallel=1)
    yield made
    made.end_plugin()


def instances(cloud):
    """Return the members of the fleet, by name."""
    cloud.emulator.operations.settle()
    return {
        body["name"]: body
        for _, body in cloud.emulator.store.of_kind("instances")
        if "gcpx-bulk" in body.get("labels", {})
    }


def ids(cloud):
    return {name: body["id"] for name, body in instances(cloud).items()}


def types(cloud):
    """Return the machine types of members, without their prefix, by name."""
    return {name: body["machineType"].rpartition("/e2-")[2] for name, body in instances(cloud).items()}


def said(stack, inputs, **more):
    """Run `up`; return what its preview has said."""
    before = len(stack.messages)
    stack.cloud.emulator.requests.kept.clear()
    stack.up(inputs, **more)
    return PreviewWords.among(stack.messages[before:])


def touched(cloud, method):
    """Return the IDs of the members to which requests of a method were sent, in their order."""
    return [request["path"].split("/instances/")[1].split("/")[0] for request in cloud.requests(method)]


def kill_at(stack, inputs, end, number=1):
    """Run `up`, and kill it after the request of a number whose path has this end."""
    stack.end_plugin()
    seen = []

    def observe(_, request):
        seen.extend([request] if request.endswith(end) else [])
        if len(seen) == number and not stack.cloud.interceptor.is_lost:
            stack.cloud.interceptor.lose("after")
            stack.kill()

    with stack.cloud.interceptor.observed(observe):
        stack.up(inputs, crashes=True)
    assert len(seen) >= number
    stack.end_plugin()
    stack.cloud.interceptor.drain()


def remove_label(cloud, name):
    cloud.change(instance_path(name), lambda body: body["labels"].pop("gcpx-generation"))


def test_a_scale_in_beside_a_pause_deletes_whom_the_preview_has_named_although_a_label_was_removed(stack, cloud):
    policy = {"pauseAfter": 4}
    stack.succeed(rolling(4, policy))
    before = ids(cloud)
    remove_label(cloud, "web-001")
    words = said(stack, rolling(3, policy))
    assert words.of["deleted"].names == {"web-004"}
    assert ids(cloud) == {name: number for name, number in before.items() if name != "web-004"}


def test_a_removed_label_is_set_back_beside_a_pause(stack, cloud):
    stack.succeed(rolling(3, PAUSED))
    remove_label(cloud, "web-001")
    words = said(stack, rolling(3, PAUSED), refresh=True)
    assert words.of["set back"].names == {"web-001"}
    assert "gcpx-generation" in instances(cloud)["web-001"]["labels"]
    stack.refresh()
    assert not stack.preview(rolling(3, PAUSED))


def test_new_members_count_for_the_pause_in_the_preview_too(stack, cloud):
    stack.succeed(rolling(2))
    before = ids(cloud)
    words = said(stack, rolling(4, {"pauseAfter": 3}, **BIGGER_DISK))
    assert words.of["replaced"].names == {"web-001"}
    assert words.created == 2
    assert ids(cloud)["web-002"] == before["web-002"]
    assert before["web-001"] not in ids(cloud).values()
    assert len(ids(cloud)) == 4


def test_no_other_member_takes_the_place_of_one_that_fails_before_a_pause(stack, cloud):
    stack.succeed(rolling(4))
    before = ids(cloud)
    cloud.fail(STOP, operation=BROKEN)
    words = said(stack, rolling(4, PAUSED, **MEDIUM))
    assert words.of["restarted"].names == {"web-001", "web-002"}
    assert touched(cloud, STOP) == [before["web-001"], before["web-002"]]
    assert types(cloud) == {"web-001": "small", "web-002": "medium", "web-003": "small", "web-004": "small"}


@pytest.mark.parametrize("end", ["/setLabels", "/stop", "/start"])
def test_after_a_kill_a_paused_rollout_changes_the_members_that_the_preview_names(stack, cloud, end):
    stack.succeed(rolling(4))
    wanted = rolling(4, {"pauseAfter": 1}, **MEDIUM)
    kill_at(stack, wanted, end)
    words = said(stack, wanted)
    assert words.of["restarted"].names == {"web-001"}
    assert types(cloud) == {"web-001": "medium", "web-002": "small", "web-003": "small", "web-004": "small"}
    assert {body["status"] for body in instances(cloud).values()} == {"RUNNING"}


def refreshed(stack):
    """Refresh; return why the fleet is unfinished then, without the advice at the end."""
    stack.refresh()
    (reason,) = stack.init_errors
    assert reason.endswith("; run `pulumi up` to go on")
    return reason.removesuffix("; run `pulumi up` to go on")


def test_a_refresh_after_a_kill_says_who_is_not_as_in_the_state(stack, cloud):
    stack.succeed(rolling(4))
    kill_at(stack, rolling(4, **MEDIUM), "/setMachineType", 2)
    assert types(cloud) == {"web-001": "medium", "web-002": "medium", "web-003": "small", "web-004": "small"}
    reason = "the last update did not finish: 2 of 4 members differ from the state: web-001, web-002"
    assert refreshed(stack) == refreshed(stack) == reason


def test_a_refresh_after_a_failure_names_the_members_that_are_left(stack, cloud):
    stack.succeed(rolling(3))
    cloud.fail(STOP, times=2, delay=0.0)
    cloud.fail(STOP, operation=BROKEN)
    stack.up(rolling(3, **MEDIUM))
    assert types(cloud) == {"web-001": "medium", "web-002": "medium", "web-003": "small"}
    assert refreshed(stack) == "the last update did not finish: 1 of 3 members differs from the state: web-003"


@pytest.mark.parametrize(
    ("kind", "end", "note"),
    [
        ("stop", "/setMachineType", "stopped for a restart"),
        ("stop", "/setMetadata", "stopped by somebody"),
        ("compute.instances.preempted", "/setLabels", "preempted"),
    ],
)
def test_a_preview_after_a_kill_distinguishes_who_has_stopped_a_member(stack, cloud, kind, end, note):
    changed = {"metadata": {"items": [{"key": "a", "value": "1"}]}} if end == "/setMetadata" else MEDIUM
    stack.succeed(rolling(2))
    stop(cloud, "web-002", kind)
    kill_at(stack, rolling(2, **changed), end)
    stack.refresh()
    before = len(stack.messages)
    stack.preview(rolling(2, **changed))
    assert f"web-002 ({note})" in "\n".join(stack.messages[before:])


def test_a_member_that_a_killed_restart_left_stopped_is_restarted_as_said_although_stopped_ones_are_replaced(
    stack, cloud
):
    stack.succeed(rolling(3, onStopped="REPLACE"))
    before = ids(cloud)
    wanted = rolling(3, onStopped="REPLACE", **MEDIUM)
    kill_at(stack, wanted, "/setMachineType")
    assert instances(cloud)["web-001"]["status"] == "TERMINATED"
    words = said(stack, wanted)
    assert words.of["restarted"].names == {"web-001", "web-002", "web-003"}
    assert ids(cloud) == before
    assert types(cloud) == dict.fromkeys(before, "medium")

    kill_at(stack, rolling(3, onStopped="REPLACE"), "/stop")
    words = said(stack, rolling(3, onStopped="REPLACE"), refresh=True)
    assert words.of["replaced"].names == {"web-001"}
    assert ids(cloud).keys() >= {"web-002", "web-003"}
    assert before["web-001"] not in ids(cloud).values()


@pytest.mark.parametrize("program", [fleet, rolling], ids=["fleet", "rolling"])
@pytest.mark.parametrize(
    ("end", "number"), [("/setMetadata", 1), ("/setTags", 2), ("/setLabels", 1), ("/setLabels", 3)]
)
def test_what_a_killed_run_has_added_goes_away_if_the_update_ends_first_and_goes_back_then(
    stack, cloud, program, end, number
):
    more = {"labels": {"tier": "web"}, "metadata": {"items": [{"key": "a", "value": "1"}]}, "tags": {"items": ["web"]}}
    stack.succeed(program(3))
    before = instances(cloud)
    kill_at(stack, program(3, **more), end, number)
    stack.succeed(program(3, **more))
    assert {body["labels"]["tier"] for body in instances(cloud).values()} == {"web"}
    stack.succeed(program(3))
    for name, body in instances(cloud).items():
        assert body["labels"] == before[name]["labels"]
        assert [body[setting].get("items", []) for setting in ("metadata", "tags")] == [[], []]


def hosted(domain=""):
    """Return the inputs of a fleet of two named members that have host names of a domain, if there is one."""
    made = rolling(2)
    own = {name: {"hostname": f"{name}.{domain}"} if domain else {} for name in ("alpha", "beta")}
    return {name: made[name] for name in made if name not in {"namePattern", "count"}} | {"perInstanceProperties": own}


@pytest.mark.parametrize(("before", "goes_back"), [("old.example.com", False), ("old.example.com", True), ("", False)])
def test_after_a_kill_a_change_of_host_names_replaces_the_members_that_the_preview_names(
    stack, cloud, before, goes_back
):
    stack.succeed(hosted(before))
    kill_at(stack, hosted("new.example.com"), "/bulkInsert")
    named = instances(cloud)
    assert (named["alpha"]["hostname"], named["beta"].get("hostname", "")) == (
        "alpha.new.example.com", f"beta.{before}" if before else ""
    )  # fmt: skip
    wanted = hosted(before if goes_back else "new.example.com")
    words = said(stack, wanted, refresh=True)
    assert words.of["replaced"].names == ({"alpha"} if goes_back else {"beta"})
    assert {name: body.get("hostname") for name, body in instances(cloud).items()} == {
        name: own.get("hostname") for name, own in wanted["perInstanceProperties"].items()
    }


def test_host_names_that_a_killed_run_has_given_are_taken_back_after_the_update_has_ended(stack, cloud):
    stack.succeed(hosted())
    kill_at(stack, hosted("new.example.com"), "/bulkInsert")
    stack.succeed(hosted("new.example.com"))
    words = said(stack, hosted())
    assert words.of["replaced"].names == {"alpha", "beta"}
    assert {name: body.get("hostname") for name, body in instances(cloud).items()} == {"alpha": None, "beta": None}


def test_a_preview_says_that_a_stopped_member_with_another_host_name_is_replaced(stack, cloud):
    stack.succeed(hosted("old.example.com"))
    stop(cloud, "beta")
    before = ids(cloud)
    words = said(stack, hosted("new.example.com"), refresh=True)
    assert words.of.keys() == {"replaced"}
    assert words.of["replaced"].names == {"alpha", "beta"}
    assert not before.items() & ids(cloud).items()


def test_the_least_action_is_not_done_to_members_that_the_preview_has_not_named(stack, cloud):
    stack.succeed(rolling(2))
    before = ids(cloud)
    kill_at(stack, rolling(2, **MEDIUM), "/setMachineType")
    words = said(stack, rolling(2, {"minimalAction": "REPLACE"}))
    assert words.of == {}
    assert ids(cloud) == before
    assert {body["status"] for body in instances(cloud).values()} == {"RUNNING"}


def test_a_rollback_leaves_the_members_that_a_pause_has_left(stack, cloud):
    policy = {**PAUSED, "onFailure": "ROLL_BACK"}
    stack.succeed(rolling(4, policy))
    stack.succeed(rolling(4, policy, **MEDIUM))
    before = instances(cloud)
    assert types(cloud) == {"web-001": "medium", "web-002": "medium", "web-003": "small", "web-004": "small"}
    cloud.fail(SET_LABELS, operation=BROKEN)
    words = said(stack, rolling(4, policy, **MEDIUM, labels={"tier": "web"}))
    assert words.of["changed without a restart"].names == {"web-001", "web-002"}
    assert "was rolled back" in stack.failed.message
    assert touched(cloud, STOP) == []
    assert {name: instances(cloud)[name] for name in ("web-003", "web-004")} == {
        name: before[name] for name in ("web-003", "web-004")
    }


def test_a_rollback_creates_the_members_of_a_named_fleet_that_were_all_stopped(stack, cloud):
    def inputs(**more):
        made = rolling(2, {"maxUnavailable": 2, "onFailure": "ROLL_BACK"}, **more)
        return {**{name: made[name] for name in made if name != "namePattern"}, "perInstanceProperties": names}

    names = {"alpha": {}, "beta": {}}
    stack.succeed(inputs())
    for name in names:
        stop(cloud, name)
    cloud.fail(BULK, operation=BROKEN)
    stack.up(inputs(**BIGGER_DISK), refresh=True)
    assert "was rolled back" in stack.failed.message
    assert {name: body["disks"][0]["diskSizeGb"] for name, body in instances(cloud).items()} == {
        "alpha": "10", "beta": "10"
    }  # fmt: skip


def test_a_member_may_be_gone_if_the_result_of_its_deletion_is_not_known(stack, cloud):
    stack.succeed(rolling(4))
    before = ids(cloud)
    fewest = []
    cloud.fail("compute.zoneOperations.get", status=403, times=30)
    with cloud.interceptor.observed(lambda _number, _request: fewest.append(len(instances(cloud)))):
        words = said(stack, rolling(4, **BIGGER_DISK))
    assert words.least == 3
    assert min(fewest) >= 3
    assert touched(cloud, DELETE)[0] == before["web-001"]


def test_a_balanced_fleet_stays_balanced_in_a_batch_that_also_replaces_a_stopped_member(stack, cloud):
    inputs = {"onStopped": "REPLACE", "locationPolicy": {"targetShape": "BALANCED"}}
    stack.succeed(rolling(5, {"maxUnavailable": 2}, **inputs))
    assert [body["zone"][-1] for _, body in sorted(instances(cloud).items())] == ["b", "b", "c", "c", "d"]
    stop(cloud, "web-002")
    differences = []

    def observe(_number, _request):
        found = Counter(body["zone"][-1] for body in instances(cloud).values())
        differences.append(max(found.values()) - min(found[letter] for letter in "bcd"))

    with cloud.interceptor.observed(observe):
        stack.up(rolling(5, {"maxUnavailable": 2}, **inputs, **BIGGER_DISK), refresh=True)
    assert stack.failed is None
    assert max(differences) == 1


def test_members_that_are_stopped_on_purpose_do_not_count_as_running(stack, cloud):
    stack.succeed(rolling(4, onStopped="KEEP"))
    stop(cloud, "web-004")
    fewest = []

    def observe(_number, _request):
        fewest.append(sum(body["status"] == "RUNNING" for body in instances(cloud).values()))

    with cloud.interceptor.observed(observe):
        words = said(stack, rolling(4, onStopped="KEEP", **MEDIUM), refresh=True)
    assert words.least == min(fewest) == 2
