"""Holds an update of a fleet against the words of its preview, by what is to be seen at Google at every request.

It knows nothing of how the update is planned: only the words, who the members of the state were, what the user can read
in the guide, and which of the changes between two looks others have made.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import attrs
from rolling.preview_words import PreviewWords

from gcpx_emulator.core.json_data import Json

RUNNING: Final = "RUNNING"
_LEAVING: Final = "STOPPING"
"""The status of an instance that is being stopped or deleted."""
_STOPPED: Final = frozenset({"STOPPED", "SUSPENDED", "TERMINATED"})
_LABEL: Final = "gcpx-generation"
_SETTLED: Final = re.compile(r"\w{8}-\w{8}-\w{8}")
"""The label of a member that others have not edited, and whose restart, if there was one, was not interrupted."""
Instances = Mapping[str, Json]
"""Instances by their numeric IDs."""


@attrs.frozen
class Others:
    """What others, not the update, have done to members, by the IDs of these.

    Attributes:
        stopped: those that were stopped or deleted, since the update began, and that it may not have seen.
        kept: those that were stopped on purpose, since the state was read, in a fleet that keeps stopped members.
        touched: those that were stopped since the state was read.
        broken: those that run, and no longer report that they are ready, which the state does not show.
    """

    unseen: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()
    broken: frozenset[str] = frozenset()


@attrs.define
class PreviewObserver:
    """One update, and what its preview has said.

    Attributes:
        words: what the preview has said.
        known: the members in the state when it was said.
        begun: the members that existed when the update began.
        readiness: what a ready member reports, as the key and the value of a guest attribute; None for nothing.
        shape: the target shape of the fleet; empty if its zones follow from its names or from what has room.
        keeps_stopped: whether stopped members stay so (`onStopped: KEEP`).
        is_sequential: the update sends its requests one after the other, so that even the deletions of one batch arrive in
            their order.
        violations: what was seen that the preview has not said.
    """

    words: PreviewWords
    known: Mapping[str, Any]
    begun: Instances
    readiness: tuple[str, str] | None = None
    shape: str = ""
    keeps_stopped: bool = False
    is_sequential: bool = False
    violations: list[str] = attrs.Factory(list)
    deleted: list[str] = attrs.Factory(list)
    stopped: list[str] = attrs.Factory(list)
    started: list[str] = attrs.Factory(list)
    created: list[str] = attrs.Factory(list)
    """The IDs of what the update has done this to, in its order."""
    taken: set[str] = attrs.Factory(set)
    """The IDs of those that ran when the update began to stop or to delete them."""

    def is_ready(self, instance: Json) -> bool:
        """Return whether an instance runs and reports that it is ready."""
        if instance["status"] != RUNNING or self.readiness is None:
            return bool(instance["status"] == RUNNING)
        key, value = self.readiness
        return bool(instance.get("_guestAttributes", {}).get(key) == value)

    def ready(self, members: Instances) -> int:
        """Count the members that are ready."""
        return sum(map(self.is_ready, members.values()))

    def look(self, before: Instances, now: Instances, others: Others) -> None:
        """Compare the members with the last look; only the update has changed something in between."""
        gone, created = [key for key in before if key not in now], [key for key in now if key not in before]
        both = [(key, before[key]["status"], now[key]["status"]) for key in before if key in now]
        taken = [key for key, was, status in both if was == RUNNING and status == _LEAVING]
        self.taken |= set(taken)
        stopped = [
            key
            for key, was, status in both
            if status in _STOPPED and (was == RUNNING or (key in self.taken and was == _LEAVING))
        ]
        forgetting = [key for key, was, status in both if was == "SUSPENDED" and status in {_LEAVING, "TERMINATED"}]
        started = [key for key, was, status in both if was in _STOPPED and status not in {*_STOPPED, _LEAVING}]
        self.deleted += gone
        self.stopped += stopped
        self.started += started
        self.created += created
        for key in taken:
            self._hold_to(before[key], "stopped", "restarted", "replaced", "deleted", others=others)
        for key in gone:
            self._hold_to(before[key], "deleted", "replaced", "deleted", others=others)
        for key in stopped:
            self._hold_to(before[key], "stopped", "restarted", others=others)
        for key in forgetting:
            if self.known.get(key, {}).get("status") == "SUSPENDED":
                self._hold_to(before[key], "forgetting", "memory lost", "replaced", "deleted", others=others)
        for key in started:
            if self.keeps_stopped and key in others.touched and key not in self.stopped:
                self._hold_to(before[key], "started", "started", "restarted", others=others)
        self._hold_numbers()
        if gone or taken or stopped:
            self._hold_least(before, now, others)
        if created or (gone and self.is_sequential):
            self._hold_zones(before, now, created)

    def hold_all_done(self, end: Instances) -> None:
        """Require that everything was done that the preview has said, if nothing has changed since."""
        self._hold_zones(self.begun, end, [])
        is_settled = all(_SETTLED.fullmatch(item.get("labels", {}).get(_LABEL, "")) for item in self.begun.values())
        if not is_settled or not all(item.certain for item in self.words.of.values()):
            return
        leaving, new = self.words.members("replaced", "deleted"), [key for key in self.created if key in end]
        begun = {key for key in self._of_state([*self.stopped, *self.started]) if key in end}
        done = {
            "deleted": (len(self._of_state(self.deleted)), leaving.number),
            "restarted or started": (len(begun), self.words.members("restarted", "started").number),
            "created": (len(new), self.words.members("replaced").number + self.words.created),
        }
        strange = self.words.created_names - {end[key]["name"] for key in new}
        self._note(bool(strange), f"{sorted(strange)} were not created")
        for what, (number, said) in done.items():
            self._note(number != said, f"{number} were {what}, and {said} were announced")

    def _hold_to(self, instance: Json, done: str, *kinds: str, others: Others) -> None:
        """Hold what was done to a member against what was said of it."""
        key, said = instance["id"], self.words.members(*kinds)
        if key not in self.known:  # an interrupted run, or this one, has made it
            return
        if done == "stopped" and _was_interrupted(self.begun.get(key)):
            return
        self._note(
            instance["name"] not in said.names and not said.unnamed,
            f"{instance['name']} ({instance['status']}) was {done}, and was not announced to be {' or '.join(kinds)}",
        )

    def _hold_numbers(self) -> None:
        leaving, restarted = self.words.members("replaced", "deleted"), self.words.members("restarted")
        for what, done, said in (("deleted", self.deleted, leaving), ("stopped", self.stopped, restarted)):
            own = self._of_state(done)
            unnamed = [key for key in own if self.begun[key]["name"] not in said.names]
            self._note(len(unnamed) > said.unnamed and bool(said.unnamed), f"{len(own)} were {what} of {said.number}")

    def _of_state(self, done: list[str]) -> set[str]:
        return {key for key in done if key in self.known and key in self.begun}

    def _hold_least(self, before: Instances, now: Instances, others: Others) -> None:
        """Hold the members that run and are ready against the fewest that were said, when the update took some away."""
        if self.words.least is None:
            return
        idle = others.unseen | others.kept | others.broken | self._found_stopped(now)
        least, ready = self.words.least - len(idle), self.ready(now)
        shown = [f"{item['name']} {item['status']}" for item in now.values()]
        self._note(ready < min(least, self.ready(before)), f"{ready} of at least {least} run and are ready: {shown}")

    def _found_stopped(self, now: Instances) -> set[str]:
        """Return the members that run by the state, did not run when the update began, and do not run now."""
        stopped = {key for key, item in self.begun.items() if item["status"] in _STOPPED}
        ran = {key for key, item in self.known.items() if item["status"] == RUNNING}
        return {key for key in stopped & ran if key not in now or now[key]["status"] != RUNNING}

    def _hold_zones(self, before: Instances, now: Instances, created: list[str]) -> None:
        if self.shape == "ANY_SINGLE_ZONE" and self.begun:
            places = zones(self.begun)
            strange = [now[key]["name"] for key in created if _zone(now[key]) not in places]
            self._note(bool(strange), f"{strange} were created outside of {sorted(places)}")
        if self.shape == "BALANCED":
            idle = sum(key not in self.taken for key in before if key not in now)
            was, spread = unbalance(before), unbalance(now)
            self._note(spread > max(1, was) + idle, f"the zones have {sorted(zones(now).items())} members")

    def _note(self, violated: bool, words: str) -> None:
        if violated:
            self.violations.append(words)


def _was_interrupted(instance: Json | None) -> bool:
    """Return whether a restart of a member was interrupted, so that it may be restarted once more."""
    return instance is not None and str(instance.get("labels", {}).get(_LABEL, "")).endswith("-changing")


def zones(instances: Instances) -> Counter[str]:
    """Count instances by zone."""
    return Counter(map(_zone, instances.values()))


def _zone(instance: Json) -> str:
    return str(instance["zone"]).rpartition("/")[2]


def unbalance(instances: Instances, among: tuple[str, ...] = ("us-east1-b", "us-east1-c", "us-east1-d")) -> int:
    """Return by how much the numbers of instances in the zones differ."""
    found = zones(instances)
    return max(found[zone] for zone in among) - min(found[zone] for zone in among)
