"""A wrong value anywhere in any response of Google: a clear error or a sound result, and never a lost resource.

Holds reliability.md: "any of these"; "A response that is incomplete".
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import attrs
import grpc
import pytest
from engines import driver
from engines.clocked import ClockedProvider
from faults.wrong_values import MISSING, TRICKS, ResponseBodies, Wrong, wrongs
from servers import emulated
from values import matrix
from values.programs import (
    ATTACHMENT,
    BUCKET,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    USER,
    VM,
    ZONE,
    attachment,
    fleet,
    image,
    key,
    notification,
    template,
)

from gcpx.model.fields import ListOf, MapOf, ObjectType, Scalar, object_type
from gcpx.provider import resource_class

STEADY_READS, STEADY_CHANGES = 10, 3
"""How many wrong values of each verb of each resource are tried in every run; changes begin anew each time."""
NOT_OURS = {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.UNAVAILABLE}
GIVEN: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    TEMPLATE: ({"name": "web", **template()}, {"name": "web", **template()}, {}),
    IMAGE: ({"name": "i", **image()}, {"name": "i", **image(labels={"a": "b"})}, {}),
    ATTACHMENT: (attachment(), attachment(autoDelete=True), {}),
    FLEET: ({"fleetId": "f", **fleet(2)}, {"fleetId": "f", **fleet(3, labels={"a": "b"})}, {}),
    NOTIFICATION: (notification(), notification(), {"bucket": BUCKET}),
    KEY: (key(), key(expirationTimeUsec="1924991999000000"), {"user": USER}),
}
"""The inputs of each resource, changed inputs, and the query of its list."""


@attrs.define
class Hostile:
    """A plugin, and an emulator whose responses can be wrong.

    Attributes:
        before: what existed before a creation, as `census` counts it.
        created: what exists after a creation without wrong values.
    """

    cloud: emulated.Emulated
    responses: ResponseBodies
    processes: ExitStack
    engine: driver.Engine = attrs.field(init=False)
    before: dict[str, int] = attrs.Factory(dict)
    created: dict[str, int] = attrs.Factory(dict)

    def begin_process(self) -> None:
        """Let a new plugin do what follows, which has learned nothing yet."""
        self.processes.close()
        settings = {"project": PROJECT, "emulatorHost": self.cloud.host, "zone": ZONE}
        self.engine = self.processes.enter_context(driver.engine(ClockedProvider(), **settings))

    def prepare(self) -> None:
        self.cloud.reset()
        self.responses.begin()
        self.cloud.emulator.store.put(f"b/{BUCKET}", {"kind": "storage#bucket", "name": BUCKET, "_project": PROJECT})
        self.cloud.make_topics()
        self.cloud.make_disk()
        self.cloud.make_instance()

    def create(self, token: str) -> driver.Resource:
        return self.engine.create(token, "r", GIVEN[token][0])

    def census(self) -> dict[str, int]:
        """Count what exists, by collection, with the disks that are attached to the instance that is not ours."""
        self.cloud.emulator.operations.settle()
        counts = {name: count for name, count in self.cloud.emulator.store.counts().items() if name != "operations"}
        return counts | {"attached": len(self.cloud.get(VM)["disks"])}

    def state_of(self, token: str, resource: driver.Resource) -> Any:
        """Return the outputs; fail if a value is not of its declared type."""
        assert resource.id, "the resource has an ID"
        assert conforms(object_type(resource_class(token).model), resource.outputs), resource.outputs
        return resource


@pytest.fixture(scope="module")
def hostile():
    with emulated.running() as cloud, ExitStack() as processes:
        hostile = Hostile(cloud, ResponseBodies(cloud.interceptor), processes)
        hostile.begin_process()
        yield hostile


def conforms(kind: Any, value: Any) -> bool:
    """Return whether a value in the state has its declared type."""
    if isinstance(value, dict) and driver.SIGNATURE in value:
        return conforms(kind, value["value"])
    if isinstance(kind, ObjectType):
        return isinstance(value, dict) and all(
            name.startswith("__") or conforms(kind.properties[name].type, item) for name, item in value.items()
        )
    if isinstance(kind, ListOf):
        return isinstance(value, list) and all(conforms(kind.item, item) for item in value)
    if isinstance(kind, MapOf):
        return isinstance(value, dict) and all(conforms(kind.item, item) for item in value.values())
    return kind == Scalar("any") or isinstance(value, _PYTHON[kind.name])


_PYTHON = {
    "string": str,
    "boolean": bool,
    "integer": (int, float, str),
    "number": (int, float, str),
    "integer or percentage": (int, float, str),
}


def _refresh(hostile: Hostile, token: str, made: driver.Resource) -> None:
    found = hostile.engine.refresh(made)
    assert found is not None, "a resource that exists was taken for gone"
    hostile.state_of(token, found)


def _import(hostile: Hostile, token: str, made: driver.Resource) -> None:
    found = hostile.engine.import_(token, "r", made.id)
    assert found is not None, "a resource that exists was taken for gone"
    hostile.state_of(token, found)


def _update(hostile: Hostile, token: str, made: driver.Resource) -> None:
    hostile.state_of(token, hostile.engine.update(made, GIVEN[token][1]))


def _list(hostile: Hostile, token: str, made: driver.Resource) -> None:
    ids, _ = hostile.engine.list(token, GIVEN[token][2])
    assert all(ids)


def _delete(hostile: Hostile, token: str, made: driver.Resource) -> None:
    hostile.engine.delete(made)
    assert hostile.census() == hostile.before, "a resource that exists was taken for deleted"


def _create(hostile: Hostile, token: str, made: None) -> None:
    """Create; if that fails without a partial state, the next creation must find what this one has made."""
    try:
        hostile.state_of(token, hostile.create(token))
    except grpc.RpcError as error:
        partial = driver.failed(error).partial
        assert partial is None or partial.id, "the partial state has no ID"
        if partial is None:
            hostile.responses.wrong = None
            hostile.state_of(token, hostile.create(token))
            assert hostile.census() == hostile.created, "something was made twice, or not at all"
        raise


VERBS: dict[str, Callable[..., None]] = {
    "create": _create, "refresh": _refresh, "import": _import, "update": _update, "list": _list, "delete": _delete,
}  # fmt: skip


def _says_gone(hostile: Hostile, token: str, verb: str, wrong: Wrong) -> bool:
    """Return whether a wrong value is a valid way to say that ours is gone, which nobody could tell from the truth."""
    if token in {TEMPLATE, IMAGE}:  # another resource has taken the name
        return wrong.path == ("id",) and isinstance(wrong.value, int | str) and not isinstance(wrong.value, bool)
    if token == NOTIFICATION:  # another configuration has the number, in a bucket that was made anew
        return wrong.path in {("topic",), ("payload_format",)} and isinstance(wrong.value, str)
    if token == ATTACHMENT:  # the disk is detached, or was attached again under another name
        renamed = wrong.path[-1:] == ("deviceName",) and isinstance(wrong.value, str)
        return renamed or (wrong.path[:1] == ("disks",) and len(wrong.path) == 2 and wrong.value is MISSING)
    if token == FLEET and wrong.path[-1:] == ("id",) and isinstance(wrong.value, int | str):
        # Another instance has taken the name of a member; a warning names it.
        return any("not a member" in text or "not members" in text for _, _, text in hostile.engine.log.messages)
    return token == FLEET and wrong.path[:1] == ("items",) and _leaves_out(verb, wrong)


def _leaves_out(verb: str, wrong: Wrong) -> bool:
    """Return whether a wrong value leaves an instance, or all those of a zone, out of a list.

    If it leaves out the zone itself, the state names the zone, except in an import.
    """
    is_zone = len(wrong.path) == 2 and isinstance(wrong.path[1], str)
    is_list = wrong.path == ("items",) or wrong.path[2:] == ("instances",)
    is_item = isinstance(wrong.path[-1], int)
    if wrong.value is MISSING:
        return is_item or is_list or (is_zone and verb == "import")
    return (is_list and wrong.value == []) or (is_zone and wrong.value == {})


READING = ("refresh", "import", "list")


def _attempt(hostile: Hostile, token: str, verb: str, made: Any, wrong: Wrong | None) -> str:
    """Call a verb with a wrong value; return what is not allowed about the outcome, empty if nothing is."""
    hostile.responses.begin(wrong)
    hostile.engine.log.messages.clear()
    try:
        VERBS[verb](hostile, token, made)
    except grpc.RpcError as error:
        if error.code() in NOT_OURS or "Traceback" in error.details():
            return f"{error.code().name}: {error.details()}"
        if any((ord(letter) < 32 and letter != "\n") or letter == "\u202e" for letter in error.details()):
            return f"control characters in {error.details()!a}"
        if len(error.details()) > 10_000:
            return f"a message of {len(error.details())} characters"
    except AssertionError as error:
        if "was taken for" in str(error) and wrong is not None and _says_gone(hostile, token, verb, wrong):
            return ""
        return str(error).splitlines()[0][:200]
    return ""


def _made(hostile: Hostile, token: str, verb: str) -> driver.Resource | None:
    """Begin anew, and create the resource unless the verb does."""
    hostile.prepare()
    hostile.before = hostile.census()
    return None if verb == "create" else hostile.create(token)


def _begin(hostile: Hostile, process: str) -> None:
    if process == NEW:
        hostile.begin_process()


def _cases(hostile: Hostile, token: str, verb: str, process: str) -> list[Wrong]:
    made = _made(hostile, token, verb)
    _begin(hostile, process)
    assert _attempt(hostile, token, verb, made, None) == ""
    hostile.created = hostile.census()
    return sorted(wrongs(hostile.responses.bodies), key=str)


def _failures(hostile: Hostile, token: str, verb: str, process: str, chosen: list[Wrong]) -> list[str]:
    found = []
    made = _made(hostile, token, verb)
    for wrong in chosen:
        if verb not in READING:
            _begin(hostile, process)
            made = _made(hostile, token, verb)
        _begin(hostile, process)
        outcome = _attempt(hostile, token, verb, made, wrong)
        if not hostile.responses.replaced:
            outcome = "no response had it"
        if outcome:
            found.append(f"{wrong}: {outcome}")
    return found


INSERTION = f"POST /compute/v1/projects/{PROJECT}/global/instanceTemplates #0"
WAIT = f"POST /compute/v1/projects/{PROJECT}/global/operations/OPERATION/wait #0"
LIST = f"GET /compute/beta/projects/{PROJECT}/zones/{ZONE}/instances #0"
AGGREGATED = f"GET /compute/beta/projects/{PROJECT}/aggregated/instances #0"
BULK_INSERTION = f"POST /compute/beta/projects/{PROJECT}/regions/us-east1/instances/bulkInsert #0"
BULK_WAIT = f"POST /compute/beta/projects/{PROJECT}/regions/us-east1/operations/OPERATION/wait #0"
"""Responses to the creation of a template, and to the deletion and creation of a fleet."""
SLICES = 8 if matrix.FULL else 1
"""Into how many tests the cases of a verb of a resource are divided."""
NEW, USED = "new process", "used process"
PROCESSES = {token: (NEW, USED) if token == FLEET else (USED,) for token in GIVEN}
"""The first list of a fleet's region is an aggregated one, from which a plugin learns the zones."""
ALL = [
    (token, verb, process, index)
    for token in GIVEN
    for verb in VERBS
    for process in PROCESSES[token]
    for index in range(SLICES)
]


@pytest.mark.parametrize(("token", "verb", "process", "index"), matrix.part(ALL))
def test_a_wrong_value_is_an_error_or_harmless(hostile, caplog, record_property, token, verb, process, index):
    hostile.begin_process()
    if process == USED:
        _made(hostile, token, "refresh")
    cases = _cases(hostile, token, verb, process)
    few = min(STEADY_READS if verb in READING else STEADY_CHANGES, len(cases))
    chosen = cases[index::SLICES] if matrix.FULL else random.Random(f"{token} {verb}").sample(cases, few)
    failures = _failures(hostile, token, verb, process, chosen)
    caplog.clear()
    record_property("wrong_values", (len(chosen), len(failures)))

    assert not failures, "\n".join(failures)


def test_the_same_values_are_wrong_however_a_list_is_ordered_by_what_is_random():
    done = {"status": "DONE", "endTime": "2026-11-27T10:49:09.055-08:00"}
    warned = {"warnings": [{"code": "B", "data": [{"key": "b"}, {"key": "a"}]}, {"code": "A"}], **done}
    early = [{"name": "operation-1-a", **done}, {"name": "operation-1-b", **warned}, {"name": "operation-1-c", **done}]
    later = {"endTime": "2026-11-27T10:49:10.100-08:00"}
    late = [{**warned, "name": "operation-2-d", **later}, *({**done, "name": f"operation-2-{n}"} for n in "ef")]
    found = list(wrongs({"GET operations #0": {"items": early}}))

    assert sorted(map(str, found)) == sorted(map(str, wrongs({"GET operations #0": {"items": late}})))
    for wrong in found:
        assert wrong.apply({"items": early}) != {"items": early}
        assert wrong.apply({"items": late}) != {"items": late}


@pytest.mark.parametrize("response", [INSERTION, WAIT])
@pytest.mark.parametrize("trick", TRICKS, ids=range(len(TRICKS)))
def test_a_name_in_an_operation_that_cannot_be_one_is_not_used(hostile, caplog, trick, response):
    hostile.prepare()
    hostile.before = hostile.census()

    assert _attempt(hostile, TEMPLATE, "create", None, Wrong(response, ("targetLink",), trick)) == ""
    assert hostile.responses.replaced
    caplog.clear()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("items", 0, "labels"), {}),
        (("items", 0, "labels", "gcpx-bulk"), "x"),
        (("items", 0, "zone"), "x"),
        (("items", 0, "zone"), "projects/p/zones/europe-west1-b"),
    ],
)
def test_a_member_that_a_list_shows_elsewhere_or_without_its_label_is_not_forgotten(hostile, caplog, path, value):
    made = _made(hostile, FLEET, "delete")
    hostile.responses.begin(Wrong(LIST, path, value))

    with pytest.raises(grpc.RpcError, match="Google's list has an instance"):
        hostile.engine.delete(made)
    hostile.responses.begin()
    hostile.engine.delete(made)
    assert hostile.census() == hostile.before
    caplog.clear()


def test_instances_in_a_zone_that_a_list_left_out_are_found_after_their_creation(hostile):
    hostile.prepare()
    hostile.begin_process()
    hostile.responses.begin(Wrong(AGGREGATED, ("items", f"zones/{ZONE}"), MISSING))

    assert len(hostile.create(FLEET).outputs["members"]) == 2
    assert hostile.responses.replaced


def test_the_output_is_missing_after_a_creation_without_an_operation_group(hostile):
    hostile.prepare()
    hostile.responses.begin(Wrong(BULK_WAIT, ("operationGroupId",), None))

    assert "operationGroupId" not in hostile.create(FLEET).outputs.get("__kept", {})
    assert hostile.responses.replaced


@pytest.mark.parametrize("trick", TRICKS, ids=range(len(TRICKS)))
def test_a_region_of_an_operation_that_is_no_part_of_a_path_is_shown_without_control_characters(hostile, trick):
    hostile.prepare()
    hostile.before = hostile.census()

    assert _attempt(hostile, FLEET, "create", None, Wrong(BULK_INSERTION, ("region",), trick)) == ""
    assert hostile.responses.replaced
