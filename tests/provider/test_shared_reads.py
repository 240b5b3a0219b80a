"""Reads side by side: how many requests they need, how old an answer may be, and that a list never makes something gone.

Holds reliability.md: "A refresh or an import of more than three"; "Only a request for the resource itself"; "If a list
does not show a resource"; "What a list has shown"; "It is never older than the last change"; "If the account may not
list".
"""

from __future__ import annotations

import base64
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

import attrs
import pytest
from engines import driver
from engines.clock import HANGS, FakeClock
from engines.clocked import ClockedProvider
from engines.driver import Engine, Resource, failing
from google.protobuf import empty_pb2
from servers.emulated import Emulated
from values.programs import (
    ATTACHMENT,
    BLOB,
    DEBIAN,
    IMAGE,
    KEY,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    USER,
    notification,
    properties,
    template,
)  # fmt: skip

FOR_GOOD = 10**9
PARTNER = {"a.example": {"entries": {"k": "v"}}}


@attrs.frozen
class Kind:
    """One kind of resources.

    Attributes:
        get: the method that reads one.
        list: the method that reads many; the same as `get` if one read shows all of them.
        inputs: gives the inputs of the resource with a number.
    """

    token: str
    get: str
    list: str
    inputs: Callable[[int], dict[str, Any]]


def _key(number: int) -> str:
    raw = base64.b64decode(BLOB)[:-4] + number.to_bytes(4, "big")
    return f"ssh-ed25519 {base64.b64encode(raw).decode()} laptop"


_TEMPLATES = "compute.instanceTemplates"
LINK = {"items": [{"key": "source", "value": "https://www.googleapis.com/compute/beta/projects/p/global/images/i"}]}
KINDS = {
    "templates": Kind(
        TEMPLATE, f"{_TEMPLATES}.get", f"{_TEMPLATES}.list", lambda number: {"name": f"web-{number}", **template()}
    ),
    "beta templates": Kind(
        TEMPLATE,
        f"{_TEMPLATES}.get",
        f"{_TEMPLATES}.list",
        lambda number: {"name": f"web-{number}", "properties": properties(partnerMetadata=PARTNER)},
    ),
    "regional templates": Kind(
        TEMPLATE,
        "compute.regionInstanceTemplates.get",
        "compute.regionInstanceTemplates.list",
        lambda number: {"name": f"web-{number}", "region": "us-east1", **template(metadata=LINK)},
    ),
    "images": Kind(
        IMAGE,
        "compute.machineImages.get",
        "compute.machineImages.list",
        lambda number: {"name": f"web-{number}", "sourceInstance": "zones/us-east1-b/instances/example-vm"},
    ),
    "attachments": Kind(
        ATTACHMENT,
        "compute.instances.get",
        "compute.instances.get",
        lambda number: {"instance": "zones/us-east1-b/instances/example-vm", "disk": f"disk-{number}"},
    ),
    "attachments to many": Kind(
        ATTACHMENT,
        "compute.instances.get",
        "compute.instances.list",
        lambda number: {"instance": f"zones/us-east1-b/instances/vm-{number}", "disk": f"disk-{number}"},
    ),
    "notifications": Kind(
        NOTIFICATION,
        "storage.notifications.get",
        "storage.notifications.list",
        lambda number: notification(customAttributes={"number": f"{number}"}),
    ),
    "keys": Kind(
        KEY,
        "oslogin.users.sshPublicKeys.get",
        "oslogin.users.getLoginProfile",
        lambda number: {"user": USER, "key": _key(number)},
    ),
}  # fmt: skip
TEMPLATES = KINDS["templates"]


class PausingClock(FakeClock):
    """A clock that does something in the next pause of the plugin."""

    at_pause: Callable[[], Any] | None = None

    def pause(self, seconds: float) -> None:
        work, self.at_pause = self.at_pause, None
        if work is not None:
            work()
        super().pause(seconds)


@attrs.frozen
class Burst:
    """A stack whose resources are read side by side.

    Attributes:
        provider: the provider of its plugin, with an injected clock.
        made: its resources.
    """

    cloud: Emulated
    engine: Engine
    provider: ClockedProvider
    kind: Kind
    made: list[Resource]

    def refresh(self, number: int) -> Resource | None:
        """Refresh a resource alone."""
        return self.engine.refresh(self.made[number])

    def import_(self, number: int) -> Resource | None:
        """Import a resource."""
        resource = self.made[number]
        return self.engine.import_(self.kind.token, resource.urn.rpartition("::")[2], resource.id)

    @contextmanager
    def begun(self, verb: Callable[[int], Any], *, beside: int | None = None) -> Iterator[list[Future[Any]]]:
        """Begin a call for each resource, the first one before the others; hold requests during the block.

        The first request is held when the others begin. `beside` is how many of these are begun; by default, all.
        """
        count = len(self.made) if beside is None else beside + 1
        self.cloud.interceptor.hold()
        with ThreadPoolExecutor(count) as pool:
            try:
                results = [pool.submit(verb, 0)]
                self.cloud.interceptor.wait_until_held(1)
                results += [pool.submit(verb, number) for number in range(1, count)]
                yield results
            finally:
                self.cloud.interceptor.release()

    def side_by_side(self, verb: Callable[[int], Any], held: int = 2) -> list[Any]:
        """Call a verb for all resources side by side; `held` requests are under way before the first one is answered."""
        self.cloud.emulator.requests.kept.clear()
        with self.begun(verb) as results:
            self.cloud.interceptor.wait_until_held(held)
        return [result.result() for result in results]

    @property
    def calls(self) -> dict[str, int]:
        """How often each method was called since the last burst."""
        return dict(Counter(self.cloud.calls()))


def _surround(cloud: Emulated, kind: Kind, count: int) -> None:
    if "attachments" in _name_of(kind):
        for number in range(count):
            cloud.make_disk(f"disk-{number}")
            if kind is KINDS["attachments to many"]:
                cloud.make_instance(f"vm-{number}")
    if kind.token in {ATTACHMENT, IMAGE}:
        cloud.make_instance()


def _name_of(kind: Kind) -> str:
    return next(name for name, other in KINDS.items() if other is kind)


@pytest.fixture
def burst(cloud: Emulated) -> Iterator[Callable[..., Burst]]:
    """Give a function that creates resources of a kind, and then starts a new plugin."""
    provider = ClockedProvider(PausingClock())

    def make(kind: Kind, count: int) -> Burst:
        _surround(cloud, kind, count)
        with driver.engine(ClockedProvider(), project=PROJECT, emulatorHost=cloud.host) as maker:
            made = [maker.create(kind.token, f"web-{number}", kind.inputs(number)) for number in range(count)]
        cloud.emulator.requests.kept.clear()
        return Burst(cloud, engine, provider, kind, made)

    with driver.engine(provider, project=PROJECT, emulatorHost=cloud.host) as engine:
        yield make
        cloud.interceptor.reset()


def _copied(first: Burst, count: int) -> Burst:
    """Return a stack with so many templates that are like its first one."""
    (template,) = first.made
    body = first.cloud.get(template.id)
    text, state = json.dumps(body), json.dumps(attrs.asdict(template))
    made = []
    for number in range(count):
        name, unique = f"web-{number:04}", str(10**18 + number)
        copied = [old.replace("web-0", name).replace(body["id"], unique) for old in (text, state)]
        first.cloud.emulator.store.put(template.id.replace("web-0", name), json.loads(copied[0]))
        made.append(Resource(**json.loads(copied[1])))
    first.cloud.delete(template.id)
    return attrs.evolve(first, made=made)


@pytest.mark.parametrize("verb", ["refresh", "import_"])
@pytest.mark.parametrize("name", KINDS)
def test_ten_reads_side_by_side_need_one_request_and_one_list(burst, name, verb):
    made = burst(KINDS[name], 10)
    alone = getattr(made, verb)(3)
    found = made.side_by_side(getattr(made, verb), held=1 if name == "attachments" else 2)

    one, many = made.kind.get, made.kind.list
    if one == many:  # usually 1; but the first request may end before the others wait for it
        assert made.calls.keys() == {one}
        assert made.calls[one] <= 5
    else:
        assert made.calls == {one: 1, many: 1}
    assert found[3] == alone
    assert all(found)
    if verb == "refresh":
        assert found == made.made


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_couple_of_reads_beside_another_one_are_requests_of_their_own(burst, count):
    made = burst(TEMPLATES, count)
    found = made.side_by_side(made.refresh, held=1)

    assert made.calls == {TEMPLATES.get: count}
    assert found == made.made


def test_reads_one_after_the_other_are_requests_of_their_own(burst):
    made = burst(TEMPLATES, 5)
    assert [made.refresh(number) for number in range(5)] == made.made

    assert made.calls == {TEMPLATES.get: 5}


@pytest.mark.parametrize("verb", ["refresh", "import_"])
def test_many_reads_side_by_side_need_the_pages_of_a_list(burst, verb):
    made = _copied(burst(TEMPLATES, 1), 600)
    found = made.side_by_side(getattr(made, verb))

    assert [resource.id for resource in found] == [resource.id for resource in made.made]
    assert found == made.made or verb == "import_"
    assert made.calls[TEMPLATES.list] == 2
    assert made.calls[TEMPLATES.get] <= 10  # one, and those that come exactly between two pages


@pytest.mark.parametrize("name", KINDS)
def test_a_refresh_after_an_import_shows_nothing_new(burst, name):
    made = burst(KINDS[name], 1)
    imported = made.import_(0)

    assert made.engine.refresh(imported) == imported


def test_an_import_gives_links_the_version_of_later_reads_unless_they_are_of_another_api(clocked_engine):
    pool = "https://storagepools.googleapis.com/beta/projects/p/locations/l/pools/pool"
    disk = {"boot": True, "initializeParams": {"sourceImage": DEBIAN, "storagePool": pool}}
    made = clocked_engine.create(TEMPLATE, "web", {"name": "web", **template(disks=[disk])})
    found = clocked_engine.import_(TEMPLATE, "web", made.id).outputs

    assert found["selfLink"].startswith("https://www.googleapis.com/compute/v1/projects/")
    assert found["properties"]["disks"][0]["initializeParams"]["storagePool"] == pool


@pytest.mark.parametrize("verb", ["refresh", "import_"])
def test_the_default_parallelism_needs_hardly_more_requests(burst, verb):
    made = _copied(burst(TEMPLATES, 1), 600)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(getattr(made, verb), range(600)))

    assert [resource.id for resource in found] == [resource.id for resource in made.made]
    assert made.calls[TEMPLATES.list] == 2
    assert made.calls[TEMPLATES.get] <= 40


def test_a_later_read_of_what_the_next_page_has_reads_that_page(burst):
    made = _copied(burst(TEMPLATES, 1), 600)
    early = attrs.evolve(made, made=made.made[:400])
    early.side_by_side(early.refresh)
    made.cloud.emulator.requests.kept.clear()

    assert [made.refresh(550), made.refresh(560)] == [made.made[550], made.made[560]]
    assert made.calls == {TEMPLATES.list: 1}


def test_a_later_read_of_what_the_next_page_does_not_show_reads_no_further_page(burst):
    made = _copied(burst(TEMPLATES, 1), 1600)
    early = attrs.evolve(made, made=made.made[:400])
    early.side_by_side(early.refresh)
    for number in (1598, 1599):
        made.cloud.delete(made.made[number].id)
    made.cloud.emulator.requests.kept.clear()

    assert made.refresh(1598) is None
    assert made.calls == {TEMPLATES.list: 1, TEMPLATES.get: 1}
    assert made.refresh(1599) is None
    assert made.calls == {TEMPLATES.list: 1, TEMPLATES.get: 2}


def test_a_list_full_of_others_is_given_up_after_a_page(burst):
    made = burst(TEMPLATES, 10)
    body = made.cloud.get(made.made[0].id)
    for number in range(1200):
        name = f"a-{number:04}"
        other = {**body, "name": name, "id": str(10**18 + number), "selfLink": body["selfLink"].replace("web-0", name)}
        made.cloud.emulator.store.put(made.made[0].id.replace("web-0", name), other)
    assert made.side_by_side(made.refresh) == made.made

    assert made.calls == {TEMPLATES.get: 10, TEMPLATES.list: 1}
    assert made.side_by_side(made.refresh, held=10) == made.made
    assert made.calls == {TEMPLATES.get: 10}


def test_an_answer_of_a_list_is_given_for_ten_seconds(burst):
    made = burst(TEMPLATES, 10)
    made.side_by_side(made.refresh)
    made.provider.time.advance(10.0)
    assert made.refresh(4) == made.made[4]
    assert made.calls == {TEMPLATES.get: 1, TEMPLATES.list: 1}

    made.provider.time.advance(0.001)
    made.cloud.delete(made.made[4].id)
    assert made.refresh(4) is None
    assert made.calls == {TEMPLATES.get: 2, TEMPLATES.list: 1}


@pytest.mark.parametrize("name", KINDS)
def test_a_change_by_this_process_ends_what_is_kept(burst, name):
    made = burst(KINDS[name], 10)
    made.side_by_side(made.refresh, held=1 if name == "attachments" else 2)
    made.engine.delete(made.made[9])
    made.cloud.emulator.requests.kept.clear()
    assert made.refresh(4) == made.made[4]

    assert made.calls == {made.kind.get: 1}


def test_a_list_that_was_asked_for_before_a_change_ended_answers_nothing(burst):
    made = burst(TEMPLATES, 10)
    with made.begun(made.refresh, beside=8) as results:
        made.cloud.interceptor.wait_until_held(2)
        deletion = threading.Thread(target=made.engine.delete, args=[made.made[9]])
        deletion.start()
        made.cloud.interceptor.wait_until_held(3)
    deletion.join()

    assert [result.result() for result in results] == made.made[:9]
    assert made.calls[TEMPLATES.get] == 9


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("templates", "compute.instanceTemplates.delete"),
        ("images", "compute.machineImages.delete"),
        ("attachments to many", "compute.instances.detachDisk"),
        ("notifications", "storage.notifications.delete"),
        ("keys", "oslogin.users.sshPublicKeys.delete"),
    ],
)
def test_a_list_that_was_asked_for_during_a_change_answers_nothing_after_its_end(burst, name, method):
    made = burst(KINDS[name], 10)
    others = attrs.evolve(made, made=made.made[:9])
    found = []
    made.cloud.fail(method, status=503)
    made.provider.time.at_pause = lambda: found.extend(others.side_by_side(others.refresh))
    made.engine.delete(made.made[9])
    assert found == others.made
    made.cloud.emulator.requests.kept.clear()
    assert made.refresh(4) == made.made[4]

    assert made.calls == {made.kind.get: 1}


def test_a_list_that_was_asked_for_during_an_operation_answers_nothing_after_its_end(burst):
    made = burst(TEMPLATES, 10)
    others = attrs.evolve(made, made=made.made[:9])
    waits = threading.Event()

    def observe(_: int, request: str) -> None:
        if request.endswith("/wait"):
            waits.set()

    with ThreadPoolExecutor(1) as pool, made.cloud.held_operations(), made.cloud.interceptor.observed(observe):
        deletion = pool.submit(made.engine.delete, made.made[9])
        assert waits.wait(HANGS)
        assert others.side_by_side(others.refresh) == others.made
    deletion.result()
    made.cloud.emulator.requests.kept.clear()
    assert made.refresh(4) == made.made[4]

    assert made.calls == {made.kind.get: 1}


@pytest.mark.parametrize("name", [name for name in KINDS if name != "attachments"])
def test_a_caller_who_may_not_list_reads_each_resource_and_is_not_refused_again(burst, name):
    made = burst(KINDS[name], 10)
    made.cloud.fail(made.kind.list, times=FOR_GOOD, status=403)
    for expected in ({made.kind.get: 10, made.kind.list: 1}, {made.kind.get: 10}):
        assert made.side_by_side(made.refresh) == made.made
        assert made.calls == expected
    assert not made.engine.log.lasting


@pytest.mark.parametrize("fault", [{"status": 500}, {"status": 404}, {"body": "{}"}, {"body": "<html>"}], ids=str)
def test_an_error_of_the_list_is_no_error_of_the_reads(burst, fault):
    made = burst(TEMPLATES, 10)
    made.cloud.fail(TEMPLATES.list, times=FOR_GOOD, **fault)

    assert made.side_by_side(made.refresh) == made.made
    assert made.calls[TEMPLATES.get] == 10


def test_a_list_in_which_a_key_is_no_object_is_no_error_of_the_reads(burst):
    made = burst(KINDS["keys"], 10)
    keys = {resource.outputs["fingerprint"]: "" for resource in made.made}
    made.cloud.fail(made.kind.list, times=FOR_GOOD, body=json.dumps({"sshPublicKeys": keys}))

    assert made.side_by_side(made.refresh) == made.made


def test_each_read_after_a_failed_list_has_its_own_error(burst):
    made = burst(TEMPLATES, 10)
    made.cloud.fail(TEMPLATES.list, status=404)
    made.cloud.delete(made.made[5].id)

    def refresh(number: int) -> Any:
        if number != 7:
            return made.refresh(number)
        with failing() as failures:
            made.engine.refresh(attrs.evolve(made.made[7], id="not/an/id/at/all"))
        return failures[0].message

    found = made.side_by_side(refresh)
    assert found[5] is None
    assert "is not an ID" in found[7]
    assert [found[number] for number in (0, 1, 2, 3, 4, 6, 8, 9)] == [
        made.made[number] for number in (0, 1, 2, 3, 4, 6, 8, 9)
    ]


def _rewritten(made: Burst, change: Callable[[list[dict[str, Any]]], None], **more: Any) -> None:
    """Change the items of all lists of templates."""

    def rewrite(request: str, body: bytes) -> bytes:
        if not request.endswith("/instanceTemplates"):
            return body
        page = json.loads(body)
        change(page["items"])
        return json.dumps({**page, **more}).encode()

    made.cloud.interceptor.rewrite = rewrite


@pytest.mark.parametrize("verb", ["refresh", "import_"])
def test_what_a_list_does_not_show_is_read_alone_and_stays(burst, verb):
    made = burst(TEMPLATES, 10)
    warning = {"code": "UNREACHABLE", "data": [{"key": "scope", "value": "global"}]}
    _rewritten(made, lambda items: items.pop(4), warning=warning)
    found = made.side_by_side(getattr(made, verb))

    assert all(found)
    if verb == "refresh":
        assert found == made.made
        assert made.calls == {TEMPLATES.get: 2, TEMPLATES.list: 1}


def test_what_is_gone_is_shown_as_gone_by_its_own_read_only(burst):
    made = burst(TEMPLATES, 10)
    made.cloud.delete(made.made[4].id)
    found = made.side_by_side(made.refresh)

    assert found == [*made.made[:4], None, *made.made[5:]]
    assert made.calls == {TEMPLATES.get: 2, TEMPLATES.list: 1}


@pytest.mark.parametrize(
    "change",
    [
        lambda item: item.update(id="99"),
        lambda item: item.pop("id"),
        lambda item: item.pop("properties"),
        lambda item: item.update(description="changed"),
        lambda item: item.update(properties=[]),
    ],
    ids=["another number", "no number", "a part is missing", "drift", "another form"],
)
def test_what_a_list_shows_otherwise_than_the_state_is_read_alone(burst, change):
    made = burst(TEMPLATES, 10)
    _rewritten(made, lambda items: change(items[4]))

    assert made.side_by_side(made.refresh) == made.made
    assert made.calls == {TEMPLATES.get: 2, TEMPLATES.list: 1}
    assert not made.engine.log.lasting


def test_drift_is_shown(burst):
    made = burst(TEMPLATES, 10)
    made.cloud.change(made.made[4].id, lambda body: body.update(description="changed"))
    found = made.side_by_side(made.refresh)

    assert found[4].outputs["description"] == "changed"
    assert [found[number] == made.made[number] for number in range(10)].count(True) == 9


def test_a_namesake_is_not_ours_also_in_a_list(burst):
    made = burst(TEMPLATES, 10)
    made.cloud.change(made.made[4].id, lambda body: body.update(id="99"))

    assert made.side_by_side(made.refresh) == [*made.made[:4], None, *made.made[5:]]


def test_the_end_of_the_time_of_one_read_does_not_disturb_others(burst):
    made = burst(TEMPLATES, 10)

    def refresh(number: int) -> Any:
        if number != 4:
            return made.refresh(number)
        with failing() as failures:
            attrs.evolve(made.engine, timeout=5.0).refresh(made.made[4])
        return failures[0].message

    with made.begun(refresh) as results:
        made.cloud.interceptor.wait_until_held(2)
        while wait([results[4]], timeout=0.05).not_done:
            made.provider.time.advance(6.0)
    found = [result.result() for result in results]

    assert "the custom timeout of 5 s was over" in found[4]
    assert [*found[:4], *found[5:]] == [*made.made[:4], *made.made[5:]]


def test_a_cancellation_ends_reads_that_wait_for_others(burst):
    made = burst(TEMPLATES, 10)

    def refresh(number: int) -> str:
        with failing() as failures:
            made.refresh(number)
        return failures[0].code.name

    with made.begun(refresh) as results:
        made.cloud.interceptor.wait_until_held(2)
        made.engine.stub.Cancel(empty_pb2.Empty())
        assert {result.result(HANGS) for result in results} == {"CANCELLED"}


def test_a_read_that_fails_does_not_make_those_fail_that_wait_for_the_same_instance(burst):
    made = burst(KINDS["attachments"], 6)
    made.cloud.fail("compute.instances.get", status=400)
    made.cloud.emulator.requests.kept.clear()

    def refresh(number: int) -> Any:
        if number:
            return made.refresh(number)
        with failing() as failures:
            made.refresh(0)
        return failures[0].message

    found = made.side_by_side(refresh, held=1)
    assert "injected" in found[0]
    assert found[1:] == made.made[1:]
