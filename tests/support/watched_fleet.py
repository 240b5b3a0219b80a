"""A rolling fleet in the emulator, watched at every request for what must not be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import attrs
from emulated import Emulated
from programs import PROJECT
from rolling_program import FLEET_ID, Program

from gcpx_emulator.compute.instance_lifecycle import effects_on_disks, preempt, terminate_from_within
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import apply

_ZONES: Final = [f"projects/{PROJECT}/zones/us-east1-{letter}" for letter in "bcd"]
_STRANGERS: Final = {"web-100": {}, "web-stranger": {"gcpx-bulk": "crew-2"}}
"""Instances beside the fleet: one whose name fits its pattern, and one with the label of another fleet."""
_COPY: Final = "web-copy"
"""An instance that somebody makes with the labels of a member."""
_GENERATION: Final = "gcpx-generation"


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
        programs: those that a run may lead to: the new one and, after a rollback, the old one.
        interruption: the number of a request, and what happens at it.
        violations: what was seen that must not be.
        has_copy: whether somebody has made an instance with the labels of a member.
        wasted: the generations of the members that a run took away, with the number of others of that generation that
            existed, or that somebody else deleted during the run, which the provider may not have seen.
        stopped, edited: the IDs of members that others have stopped, or whose labels they have edited.
    """

    cloud: Emulated
    programs: list[Program] = attrs.Factory(list)
    interruption: tuple[int, Callable[[], None]] | None = None
    violations: list[str] = attrs.Factory(list)
    wasted: list[tuple[str, int]] = attrs.Factory(list)
    stopped: set[str] = attrs.Factory(set)
    edited: set[str] = attrs.Factory(set)
    has_copy: bool = False
    _requests: int = 0
    _unknown: int = 0
    """The members that others have stopped during the run, when the provider may have read the members already."""
    _deleted: list[str] = attrs.Factory(list)
    """The generations of the members that others have deleted during the run."""
    _first: Look = attrs.Factory(lambda: Look([], []))
    _last: Look = attrs.Factory(lambda: Look([], []))

    @property
    def members(self) -> list[Json]:
        """The members as they are now."""
        return self._look().members

    def make_strangers(self) -> None:
        """Create the instances that are not the fleet's."""
        for name, labels in _STRANGERS.items():
            self.cloud.change(self.cloud.make_instance(name), lambda body, labels=labels: body.update(labels=labels))

    def copy_member(self) -> None:
        """Create an instance with the labels of a member."""
        labels = self.members[0]["labels"]
        self.cloud.change(self.cloud.make_instance(_COPY), lambda body: body.update(labels=labels))
        self.has_copy = True

    def free_id(self) -> None:
        """Take the labels from that instance, as users do if the fleet has to be created anew."""
        if self.has_copy:
            self.cloud.change(f"{_ZONES[0]}/instances/{_COPY}", lambda body: body.pop("labels", None))

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch the fleet during the block, at every request and at its end."""
        emulator = self.cloud.emulator
        emulator.operations.settle()
        self._first = self._last = self._look()
        self._requests = self._unknown = 0
        self.wasted.clear()
        self._deleted.clear()
        try:
            with self.cloud.interceptor.observed(self._observe):
                yield
        finally:
            self.interruption = None
        emulator.operations.settle()
        self._check()

    def is_gone(self) -> bool:
        """Return whether nothing but the other instances is left, with their disks."""
        self.cloud.emulator.operations.settle()
        store = self.cloud.emulator.store
        left = [
            item["name"] for kind in ("instances", "disks") for zone in _ZONES for item in store.list(f"{zone}/{kind}")
        ]
        strangers = [*_STRANGERS, *([_COPY] if self.has_copy else [])]
        return sorted(left) == sorted([*strangers, *strangers])

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
        else:
            self._relabel(how, member)

    def _stop(self, how: str, member: Json) -> None:
        emulator, path = self.cloud.emulator, _path(member)
        if member["status"] != "RUNNING":
            return
        self.stopped.add(member["id"])
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
        self._deleted.append(_generation(member))

    def _relabel(self, how: str, member: Json) -> None:
        labels = member.get("labels", {})
        changed = {
            "add label": {**labels, "note": "mine"},
            "change label": {**labels, "tier": "other"},
            "remove generation": {key: value for key, value in labels.items() if key != _GENERATION},
            "change generation": {**labels, _GENERATION: "unknown"},
        }[how]
        store = self.cloud.emulator.store
        store.put(_path(member), member | {"labels": changed, "labelFingerprint": f"edited{store.next()}"})
        if how != "add label":
            self.edited.add(member["id"])

    def _look(self) -> Look:
        store = self.cloud.emulator.store
        found = [item for zone in _ZONES for item in store.list(f"{zone}/instances")]
        labelled = [item for item in found if item.get("labels", {}).get("gcpx-bulk") == FLEET_ID]
        ours = [item for item in labelled if item["name"] != _COPY]
        return Look(ours, [item for item in found if item not in ours])

    def _observe(self, number: int, _: str) -> None:
        self._requests = number
        self._check()
        if self.interruption is not None and number == self.interruption[0]:
            self.interruption[1]()
            before, self._last = self._last, self._look()
            self._unknown += before.running - self._last.running

    def _check(self) -> None:
        """Compare the fleet with the last look at it."""
        before, now = self._last, self._look()
        self._last = now
        names = [item["name"] for item in now.members]
        least = min(program.least(len(now.stopped & self.stopped)) for program in self.programs) - self._unknown
        most = max(program.most(len(self._first.members)) for program in self.programs)
        shown = [f"{item['name']} {item['status']}" for item in now.members]
        self._note(now.running < min(before.running, least), f"{now.running} of at least {least} run: {shown}")
        self._note(len(names) > max(len(before.members), most), f"{len(names)} of at most {most} exist: {shown}")
        self._note(len(set(names)) < len(names), f"a name is used twice: {shown}")
        self._note(now.strangers != self._first.strangers, "other instances were touched")
        self._note_wasted(now, now.lost_since(before))

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
