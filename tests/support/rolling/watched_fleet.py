"""A rolling fleet in the emulator, watched at every request for what must not be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol

import attrs
from engines.stack import Stack
from rolling.preview_observer import Others, PreviewObserver
from rolling.preview_words import PreviewWords
from rolling.rolling_program import READY, ROLE, Program
from servers.emulated import Emulated
from values.programs import FLEET, PROJECT, fleet

from gcpx_emulator.compute.instance_lifecycle import effects_on_disks
from gcpx_emulator.compute.interruptions import preempt, terminate_from_within
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import apply

_ZONES: Final = [f"projects/{PROJECT}/zones/us-east1-{letter}" for letter in "bcd"]
_STRANGERS: Final = {"web-100": {}, "web-stranger": {"gcpx-bulk": "crew-2", **ROLE}}
"""Instances beside the fleet: one whose name fits its pattern, and one with the label of another fleet."""
_GENERATION: Final = "gcpx-generation"
LOOKALIKES: Final = ("copy", "restored", "fleet")
"""What others make that looks like members: an instance with the labels of one; one that is restored from the machine
image of one, and whose name fits the pattern; another fleet whose labels overlap."""


class WatchedState(Protocol):
    """The fleet in the state."""

    @property
    def outputs(self) -> dict[str, Any]:
        """Its outputs."""


class WatchedStack(Protocol):
    """A stack with the fleet."""

    @property
    def state(self) -> WatchedState | None:
        """The fleet in the state; None before it is created."""

    @property
    def messages(self) -> list[str]:
        """What previews and updates have said."""

    @property
    def doing(self) -> Sequence[str]:
        """The verb that runs, such as `update`, and perhaps more."""

    @property
    def parallel(self) -> int:
        """How many requests the plugin may send at a time."""


@attrs.frozen
class Look:
    """The fleet at a moment.

    Attributes:
        members: its instances.
        strangers: the other instances.
    """

    members: list[Json]
    strangers: list[Json]

    @property
    def running(self) -> int:
        return sum(item["status"] == "RUNNING" for item in self.members)

    @property
    def stopped(self) -> set[str]:
        """The IDs of those that are stopped."""
        return {item["id"] for item in self.members if item["status"] not in {"RUNNING", "PROVISIONING", "STAGING"}}

    @property
    def by_id(self) -> dict[str, Json]:
        """The members by their IDs."""
        return {item["id"]: item for item in self.members}

    def lost_since(self, before: Look) -> list[Json]:
        """Return the members that ran before, and do not exist any more or are being stopped."""
        now = {item["id"]: item["status"] for item in self.members}
        return [
            item
            for item in before.members
            if item["status"] == "RUNNING" and now.get(item["id"], "STOPPING") == "STOPPING"
        ]


@attrs.define
class WatchedFleet:
    """The fleet, with what a run may do to it.

    Attributes:
        stack: the stack that has it.
        program: what the run is to reach.
        programs: those that a run may lead to: the new one and, after a rollback, the old one.
        interruption: the number of a request, and what happens at it.
        violations: what was seen that must not be.
        observer: holds the run against the words of its preview; None before an update has sent a request.
        others: the IDs of the instances that others have made.
        wasted: the generations of the members that a run took away, with the number of others of that generation that
            existed, or that somebody else deleted during the run, which the provider may not have seen.
        stopped, edited, broken: the IDs of members that others have stopped, whose labels they have edited, or that no
            longer report that they are ready.
        is_short: whether a zone or the region may lack room.
    """

    cloud: Emulated
    stack: WatchedStack
    program: Program | None = None
    programs: list[Program] = attrs.Factory(list)
    interruption: tuple[int, Callable[[], None]] | None = None
    violations: list[str] = attrs.Factory(list)
    observer: PreviewObserver | None = None
    others: set[str] = attrs.Factory(set)
    wasted: list[tuple[str, int]] = attrs.Factory(list)
    stopped: set[str] = attrs.Factory(set)
    edited: set[str] = attrs.Factory(set)
    broken: set[str] = attrs.Factory(set)
    is_short: bool = False
    _requests: int = 0
    _said: int = 0
    """How many messages had been shown when the run began."""
    _unknown: int = 0
    """The members that others have stopped during the run, when the provider may have read the members already."""
    _unseen: set[str] = attrs.Factory(set)
    """The IDs of members that others have stopped, deleted or broken during the run."""
    _deleted: list[str] = attrs.Factory(list)
    """The generations of the members that others have deleted during the run."""
    _first: Look = attrs.Factory(lambda: Look([], []))
    _last: Look = attrs.Factory(lambda: Look([], []))

    @property
    def members(self) -> list[Json]:
        """The members as they are now."""
        return self._look().members

    @property
    def known(self) -> dict[str, Any]:
        """The members in the state, by their IDs."""
        state = self.stack.state
        return {item["id"]: item for item in (state.outputs.get("members") or ())} if state is not None else {}

    def make_strangers(self) -> None:
        """Create the instances that are not the fleet's."""
        for name, labels in _STRANGERS.items():
            self._make(name, labels)

    def make_lookalike(self, kind: str) -> None:
        """Let others make what looks like members, one of `LOOKALIKES`."""
        member = self.members[0]
        if kind == "copy":
            self._make("web-copy", member["labels"])
        elif kind == "restored":
            image, zone = f"projects/{PROJECT}/global/machineImages/backup", _ZONES[0]
            self.cloud.post(f"/compute/v1/projects/{PROJECT}/global/machineImages", {
                "name": "backup", "sourceInstance": _path(member)
            })  # fmt: skip
            self.cloud.post(f"/compute/v1/{zone}/instances", {"name": "web-050", "sourceMachineImage": image})
            self._take_note(f"{zone}/instances/web-050")
        else:
            before = {item["id"] for item in self._every()}
            stack = Stack(self.cloud, FLEET, "others", parallel=1)
            stack.succeed(fleet(2, labels=ROLE, namePattern="web-2##"))
            stack.end_plugin()
            self.others |= {item["id"] for item in self._every()} - before

    def _make(self, name: str, labels: dict[str, str]) -> None:
        path = self.cloud.make_instance(name)
        self.cloud.change(path, lambda body: body.update(labels=labels))
        self._take_note(path)

    def _take_note(self, path: str) -> None:
        body = self.cloud.get(path)
        assert body is not None, path
        self.others.add(body["id"])

    def free_id(self) -> None:
        """Take the labels from what others have made, as users do if the fleet has to be created anew."""
        for item in self._every():
            if item["id"] in self.others:
                self.cloud.change(_path(item), lambda body: body.pop("labels", None))

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch the fleet during the block, at every request and at its end."""
        emulator = self.cloud.emulator
        emulator.operations.settle()
        self._first = self._last = self._look()
        self._requests = self._unknown = 0
        self._said, self.observer = len(self.stack.messages), None
        self.wasted.clear()
        self._unseen.clear()
        self._deleted.clear()
        try:
            with self.cloud.interceptor.observed(self._observe):
                yield
        finally:
            self.interruption = None
        emulator.operations.settle()
        self._check()

    def is_gone(self) -> bool:
        """Return whether nothing but the instances of others is left, with their disks."""
        self.cloud.emulator.operations.settle()
        left = self._every()
        disks = [item["name"] for zone in _ZONES for item in self.cloud.emulator.store.list(f"{zone}/disks")]
        is_others = {item["id"] for item in left} == self.others
        return is_others and sorted(disks) == sorted(item["name"] for item in left)

    def interfere(self, how: str, position: int) -> None:
        """Do something to a member, as Google or somebody else does."""
        members = self.members
        if not members:
            return
        member = members[position % len(members)]
        if how in {"preempt", "shut down", "suspend"}:
            self._stop(how, member)
        elif how == "delete":
            self._delete(member)
        elif how == "break":
            self._unseen.add(member["id"])
            self.broken.add(member["id"])
            self.report(member, "broken")
        elif how == "resize":
            link = member["machineType"].rpartition("/")[0]
            self.cloud.emulator.store.put(_path(member), member | {"machineType": f"{link}/e2-standard-4"})
        else:
            self._relabel(how, member)

    def boot(self, state: str) -> None:
        """Say what instances report when they have booted."""
        self.cloud.emulator.store.put("guest-attributes/all", {"onBoot": {READY[0]: state}})

    def report(self, member: Json, state: str) -> None:
        """Let a member report something."""
        self.cloud.emulator.store.put(_path(member), member | {"_guestAttributes": {READY[0]: state}})

    def _stop(self, how: str, member: Json) -> None:
        emulator, path = self.cloud.emulator, _path(member)
        if member["status"] != "RUNNING":
            return
        self.stopped.add(member["id"])
        self._unseen.add(member["id"])
        if how == "suspend":
            emulator.store.put(path, member | {"status": "SUSPENDED"})
        else:
            act = preempt if how == "preempt" else terminate_from_within
            act(emulator.cloud, {"instances": [path]})

    def _delete(self, member: Json) -> None:
        store, path = self.cloud.emulator.store, _path(member)
        for effect in effects_on_disks(store, path, member):
            apply(effect, store)
        store.delete(path)
        self._unseen.add(member["id"])
        self.others.discard(member["id"])
        self._deleted.append(_generation(member))

    def _relabel(self, how: str, member: Json) -> None:
        labels = member.get("labels", {})
        changed = {
            "add label": {**labels, "note": "mine"},
            "change label": {**labels, "tier": "other"},
            "remove generation": {key: value for key, value in labels.items() if key != _GENERATION},
            "change generation": {**labels, _GENERATION: "00000000-00000000-00000000"},
            "garble generation": {**labels, _GENERATION: "unknown"},
        }[how]
        store = self.cloud.emulator.store
        store.put(_path(member), member | {"labels": changed, "labelFingerprint": f"edited{store.next()}"})
        if how != "add label":
            self.edited.add(member["id"])

    def _every(self) -> list[Json]:
        store = self.cloud.emulator.store
        return [item for zone in _ZONES for item in store.list(f"{zone}/instances")]

    def _look(self) -> Look:
        found = self._every()
        return Look(
            [item for item in found if item["id"] not in self.others],
            [item for item in found if item["id"] in self.others],
        )

    def _observe(self, number: int, _: str) -> None:
        self._requests = number
        if self.observer is None and self.stack.doing[0] == "update":
            self._begin()
        self._check()
        if self.interruption is not None and number == self.interruption[0]:
            self.interruption[1]()
            before, self._last = self._last, self._look()
            self._unknown += before.running - self._last.running

    def _begin(self) -> None:
        """Begin to hold the run against what its preview has just said."""
        program = self.program
        self._last = look = self._look()
        assert program is not None
        is_free = not (program.named or program.policy.get("keepNames") or program.fallbacks or self.is_short)
        is_free = is_free and not self.cloud.emulator.faults.queue  # a request for a zone that fails is sent for others
        self.observer = PreviewObserver(
            PreviewWords.among(self.stack.messages[self._said :]),
            self.known,
            look.by_id,
            READY if program.asks else None,
            program.shape if is_free else "",
            keeps_stopped=program.keeps_stopped,
            is_sequential=self.stack.parallel == 1,
        )

    def _check(self) -> None:
        """Compare the fleet with the last look at it."""
        before, now = self._last, self._look()
        self._last = now
        names = [item["name"] for item in now.members]
        rested = (now.stopped | self._first.stopped) & self.stopped
        least = min(program.least(len(rested)) for program in self.programs) - self._unknown
        existing = max(len(self._first.members), len(self.observer.begun) if self.observer is not None else 0)
        most = max(program.most(existing) for program in self.programs)
        shown = [f"{item['name']} {item['status']}" for item in now.members]
        self._note(now.running < min(before.running, least), f"{now.running} of at least {least} run: {shown}")
        new = now.by_id.keys() - before.by_id.keys()
        self._note(
            bool(new) and len(names) > max(len(before.members), most), f"{len(names)} of at most {most} exist: {shown}"
        )
        self._note(len(set(names)) < len(names), f"a name is used twice: {shown}")
        others = {item["id"]: item for item in now.strangers}
        touched = [
            item["name"]
            for item in self._first.strangers
            if item["id"] in self.others and others.get(item["id"]) != item
        ]
        self._note(bool(touched), f"other instances were touched: {touched}")
        self._note_wasted(now, now.lost_since(before))
        if self.observer is not None:
            self._hold_to_words(before, now)

    def _hold_to_words(self, before: Look, now: Look) -> None:
        observer = self.observer
        assert observer is not None
        assert self.program is not None
        runs = {key for key, item in observer.known.items() if item["status"] == "RUNNING"}
        stopped = (now.stopped | self._first.stopped) - self._unseen  # also those that the update has deleted since
        kept = runs & self.stopped & stopped if self.program.keeps_stopped else set()
        broken = {key for key in self.broken & now.by_id.keys() if not observer.is_ready(now.by_id[key])}
        others = Others(frozenset(self._unseen), frozenset(kept), frozenset(self.stopped), frozenset(broken))
        observer.look(before.by_id, now.by_id, others)
        deleted = {key for key in observer.deleted if key in observer.begun}
        most = self.program.most_deleted(max(len(observer.known), len(observer.begun)))
        self._note(len(deleted) > most, f"{len(deleted)} were deleted, and maxDeleted allows {most}")
        for words in observer.violations:
            self._note(violated=True, words=f"{words}; the preview said: {observer.words}")
        observer.violations.clear()

    def _note(self, violated: bool, words: str) -> None:
        if violated:
            self.violations.append(f"request {self._requests}: {words}")

    def _note_wasted(self, now: Look, lost: list[Json]) -> None:
        gone = {item["id"] for item in lost}
        known = [_generation(item) for item in now.members if item["id"] not in gone] + self._deleted
        self.wasted += [(_generation(item), known.count(_generation(item))) for item in lost]


def _generation(instance: Json) -> str:
    return str(instance.get("labels", {}).get(_GENERATION, ""))


def _path(instance: Json) -> str:
    zone = instance["zone"].rpartition("/")[2]
    return f"projects/{PROJECT}/zones/{zone}/instances/{instance['name']}"
