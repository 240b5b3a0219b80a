"""The oracle of ownership: it tells, without the product's code, who owns each thing that exists, and what a run broke.

It watches the emulator at every request that changes something, so it knows which step of which stack made, changed or
deleted each thing. After a run, it compares that with the states of the stacks and with what the run said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import attrs
from engines.inventory import Inventory, identity
from engines.promises import BrokenPromise, require
from engines.stack import Declared, Entry, Program, Stack
from servers.emulated import Emulated
from values.programs import ATTACHMENT, FLEET, NOTIFICATION

EXCEPTIONS: Final = {
    "still declared": "you run `pulumi state delete` or `state move`",
    "retained": "or keep something with `retainOnDelete`",
    "left the program": "a killed run created something that is not in the state",
    "not forced again": "`pulumi up` that no longer replaces the resource",
    "declared otherwise": "if the program has changed",
    "another version": "request IDs, by which an interrupted creation is found",
    "weeks later": "which Google lists for some weeks",
    "an hour later": "Google recognizes a request ID for about an hour.",
}
"""What is not promised, by a name: words of docs/reliability.md or docs/versions.md that say so."""


@attrs.define(eq=False)
class Thing:
    """Something that exists at Google, or existed.

    Attributes:
        key: its path; an attached disk is below the path of its instance.
        number: what Google never gives twice, if it gives such a thing.
        content: what is stored of it.
        maker: the name of the stack whose run made it; empty if somebody else did.
        urn: the resource for which it was made.
        inputs: what the program declared for that resource then.
        since: the time of its making, as `Oracle.age` gives it.
        owners: the stacks that may change and delete it.
        released: how it left its stack while it exists; empty if it did not.
        is_pending: it was made by a run that was killed, and no run has shown since that it knows of it.
        is_named: a run that left it in no state named it.
        is_forced: it was made by a replacement for which only the run was the reason, and not its own inputs.
    """

    key: str
    number: str
    content: Any
    maker: str = ""
    urn: str = ""
    inputs: Any = None
    since: tuple[str, int, int] = ("", 0, 0)
    owners: set[str] = attrs.Factory(set)
    released: str = ""
    is_pending: bool = False
    is_named: bool = False
    is_forced: bool = False

    @property
    def name(self) -> str:
        """Return the name of the resource for which it was made."""
        return _name(self.urn)

    def __str__(self) -> str:
        return f"{self.key} ({self.number}), made by {self.maker or 'somebody else'} for {self.urn or 'nothing'}"


@attrs.frozen
class Cause:
    """Who does something: the name of a stack, and the step of its run; empty if it is somebody else."""

    stack: str = ""
    verb: str = ""
    urn: str = ""


@attrs.frozen
class Deletion:
    """A thing that a step deleted."""

    thing: Thing
    cause: Cause


@attrs.define
class Oracle:
    """The things of one emulator, and whose they are.

    Attributes:
        figures: how often each event was seen, and each exception was made.
        things: what exists, by key.
        programs: by the name of a stack, what its program declares.
        forced: the name of the resource that the run replaces with `--target-replace`; empty if there is none.
    """

    cloud: Emulated
    figures: Counter[str]
    things: dict[str, Thing] = attrs.Factory(dict)
    programs: dict[str, Program] = attrs.Factory(dict)
    forced: str = ""
    _hours: int = 0
    _weeks: int = 0
    _versions: dict[str, str] = attrs.Factory(dict)
    _made: list[Thing] = attrs.Factory(list)
    """What the run has made."""
    _deleted: list[Deletion] = attrs.Factory(list)
    """What the run has deleted."""
    _held: dict[str, set[int]] = attrs.Factory(dict)
    """By URN, the things that the state had when the run began."""
    _before: dict[str, list[Entry]] = attrs.Factory(dict)
    """By stack, the entries of the state when the run began."""
    _said: int = 0
    _broken: list[BrokenPromise] = attrs.Factory(list)
    """What steps of the run have broken; they are observed in the emulator's thread, where nothing may be raised."""

    # What happens.

    def pass_hour(self) -> None:
        """Take notice that Compute has forgotten all request IDs."""
        self._hours += 1

    def pass_weeks(self) -> None:
        """Take notice that Compute has forgotten all operations."""
        self._hours += 1
        self._weeks += 1

    def begin(self, stack: Stack) -> None:
        """Take notice of the state before a run."""
        self.observe(Cause())
        self._made, self._deleted = [], []
        self._versions[stack.stack_name] = stack.provider_id
        self._before[stack.stack_name] = [attrs.evolve(entry) for entry in stack.entries]
        self._held = {}
        for entry in stack.entries:
            held = {id(thing) for thing in self.claimed(entry)}
            self._held.setdefault(entry.urn, set()).update(held)
        self._said = len(stack.lasting_messages)

    def observe(self, cause: Cause) -> None:
        """Compare what exists with what existed, and judge what a step has done to things."""
        now = dict(_found(Inventory.of(self.cloud)))
        for key, thing in list(self.things.items()):
            number, content = now.get(key, ("", None))
            if content is None or number != thing.number:
                self._note_deletion(self.things.pop(key), cause)
            elif content != thing.content:
                self._note_change(thing, content, cause)
        for key, (number, content) in now.items():
            if key not in self.things:
                self._note_making(key, number, content, cause)

    def release(self, entry: Entry, how: str) -> None:
        """Take notice that the user took an entry out of a state: what it names belongs to nobody then."""
        for thing in self.claimed(entry):
            thing.owners.discard(_stack(entry.urn))
            thing.released, thing.is_pending = how, False

    def give(self, entry: Entry) -> None:
        """Take notice that the user gave what an entry names to its stack, by an import or a move."""
        for thing in self.claimed(entry):
            thing.owners.add(_stack(entry.urn))
            thing.is_pending = False

    def _note_making(self, key: str, number: str, content: Any, cause: Cause) -> None:
        thing = Thing(key, number, content, cause.stack, cause.urn)
        self.things[key] = thing
        if cause.stack:
            self.figures["made"] += 1
            self._require(cause.verb in {"create", "update"}, "taken", f"{thing} in a step {cause}")
            thing.owners, thing.since = self._owners_of_new(thing, cause.stack), self.age(cause.stack)
            declared = self.programs[cause.stack].get(_name(cause.urn))
            thing.inputs = declared.inputs if declared is not None else None
            thing.is_forced = _name(cause.urn) == self.forced or self._is_replaced_with_another(thing, declared)
            self._made.append(thing)

    def _is_replaced_with_another(self, thing: Thing, declared: Declared | None) -> bool:
        """Return whether a new thing replaces one with the same inputs, because `replaceWith` names another resource."""
        return bool(declared is not None and declared.replace_with) and any(
            other.urn == thing.urn and other is not thing and other.owners and other.inputs == thing.inputs
            for other in self.things.values()
        )

    def _owners_of_new(self, thing: Thing, stack: str) -> set[str]:
        """Return whose a new thing is: the stack's and, if the user has given its fleet to two, the other's."""
        label = thing.content.get("labels", {}).get("gcpx-bulk") if "/instances/" in thing.key else None
        fleet = self.at(f"/bulkInstances/{label}") if label else []
        return {stack}.union(*(one.owners for one in fleet if len(one.owners) > 1))

    def _note_change(self, thing: Thing, content: Any, cause: Cause) -> None:
        thing.content = content
        if not cause.stack:
            return
        self.figures["changed"] += 1
        self._require(cause.stack in thing.owners, "taken", f"{thing} was changed by {cause}")
        self._require(cause.verb in {"create", "update", "delete"}, "taken", f"{thing} was changed by {cause}")

    def _note_deletion(self, thing: Thing, cause: Cause) -> None:
        if not cause.stack:
            self.figures["deleted by others"] += 1
            return
        self.figures["deleted"] += 1
        what = f"{thing} was deleted by {cause}"
        self._require(cause.stack in thing.owners, "taken", what)
        self._require(cause.verb in {"create", "update", "delete"}, "deleted", what)
        is_its = thing.urn == cause.urn or id(thing) in self._held.get(cause.urn, ())
        is_alias = cause.verb == "update" and cause.urn not in self._held
        is_of_two = len(thing.owners) > 1  # the user has given its fleet to two stacks, which both scale it
        self._require(is_its or is_alias or is_of_two, "deleted", what)
        self._deleted.append(Deletion(thing, cause))

    def _require(self, holds: object, kind: str, what: str) -> None:
        if not holds:
            self._broken.append(BrokenPromise(kind, what))

    def age(self, stack: str) -> tuple[str, int, int]:
        """Return what decides whether a request of a stack is recognized later: version, hours, and weeks."""
        return self._versions.get(stack, ""), self._hours, self._weeks

    # Whose things are.

    def claimed(self, entry: Entry) -> list[Thing]:
        """Return what an entry of a state names, and exists."""
        if entry.is_deleted:
            return []
        token, outputs = entry.urn.split("::")[2], entry.resource.outputs
        if token == FLEET:
            numbers = {str(member.get("id")) for member in outputs.get("members") or ()}
            return [thing for thing in self.things.values() if "/instances/" in thing.key and thing.number in numbers]
        place = identity(entry.resource)
        if token == ATTACHMENT:
            vm, _, disk = place.partition(" ")
            device = outputs.get("deviceName")
            return [
                thing
                for thing in self.things.values()
                if thing.key.startswith(f"{vm}/attachedDisks/")
                and thing.number.endswith(disk)
                and device in {None, thing.content["deviceName"]}
            ]
        if token == NOTIFICATION and outputs.get("notificationId"):
            place = f"{place.rpartition('/')[0]}/{outputs['notificationId']}"
        found, number = self.things.get(place.partition("?")[0]), outputs.get("numericId")
        return [found] if found is not None and number in {None, found.number} else []

    def known_to(self, entry: Entry) -> list[Thing]:
        """Return what an entry names, and what it stands for while it is unfinished: all that was made for it."""
        named = self.claimed(entry)
        if not entry.init_errors:
            return named
        return named + [thing for thing in self.things.values() if thing.urn == entry.urn and thing not in named]

    def owned(self, stack: str) -> list[Thing]:
        """Return what belongs to a stack."""
        return [thing for thing in self.things.values() if stack in thing.owners]

    # What a run must not do.

    def judge(self, stack: Stack, *, was_killed: bool, imported: bool = False) -> None:
        """Judge what a run has done, when it is over."""
        if self._broken:
            raise self._broken[0]
        said = "\n".join(stack.lasting_messages[self._said :])
        known = {id(thing) for entry in stack.entries for thing in self.known_to(entry)}
        if imported:
            if len(stack.entries) > len(self._before[stack.stack_name]):  # inputs that Check refuses are a warning
                self.give(stack.entries[-1])
        else:
            self._judge_taken(stack)
        self._follow_names(stack)
        self._judge_forgotten(stack, known, said)
        self._judge_deleted(stack)
        if not was_killed:
            self._judge_doubled(stack, known)
        self._judge_lost(stack, known, said, was_killed=was_killed)

    def _judge_taken(self, stack: Stack) -> None:
        """Nothing of others gets into a state without an import."""
        for entry in stack.entries:
            if entry.init_errors:
                continue
            for thing in self.claimed(entry):
                if stack.stack_name not in thing.owners:
                    excuse = self._excuse_of_taking(thing, stack.stack_name)
                    require(excuse, "taken", f"{thing} got into the state of {entry.urn}")
                    self.figures[f"exception: {excuse}"] += 1
                    thing.owners.add(stack.stack_name)
                    thing.released = ""

    def _follow_names(self, stack: Stack) -> None:
        """Take notice of new names of resources."""
        urns = {entry.urn for entry in stack.entries}
        for entry in stack.entries:
            for thing in self.claimed(entry):
                if thing.urn not in urns and stack.stack_name in thing.owners:
                    thing.urn = entry.urn

    def _judge_forgotten(self, stack: Stack, known: set[int], said: str) -> None:
        """What was in the state and exists is still in the state, or a message names it."""
        for entry in self._before[stack.stack_name]:
            for thing in self.claimed(entry):
                if id(thing) in known or stack.stack_name not in thing.owners:
                    continue
                if thing in self._made:  # of a bucket that somebody has made anew, in which the numbers begin again
                    continue
                if entry.declared.retain_on_delete:
                    self.release(entry, "retained")
                    self.figures["retained"] += 1
                    continue
                require(_names(said, thing), "forgotten", f"{thing} left the state without a message: {said}")
                self.figures["left, and named"] += 1
                thing.is_named = True

    def _judge_deleted(self, stack: Stack) -> None:
        """What was deleted is in the state no more, except if its replacement or creation failed."""
        for deletion in self._deleted:
            thing = deletion.thing
            for entry in stack.entries:
                if entry.urn == deletion.cause.urn or entry.init_errors or entry.is_deleted:
                    continue
                is_it = id(thing) in self._held.get(entry.urn, ()) and id(thing) not in self._held.get(
                    deletion.cause.urn, ()
                )
                require(not is_it, "deleted", f"{thing} was deleted by {deletion.cause}, and {entry.urn} has it")

    def _judge_lost(self, stack: Stack, known: set[int], said: str, *, was_killed: bool) -> None:
        """What was made is in the state, or a message names it, or the run was killed."""
        for thing in self.things.values():
            if thing.maker != stack.stack_name or thing.released:
                continue
            if id(thing) in known:
                is_certain = any(thing in self.claimed(entry) for entry in stack.entries)
                thing.is_pending = (
                    thing.is_pending and not is_certain
                )  # an unfinished entry may stand for something else
                thing.is_named = not is_certain and (thing.is_named or _names(said, thing))
            elif _names(said, thing):
                self.figures["named"] += thing.is_pending
                thing.is_pending, thing.is_named = False, True
            elif thing in self._made:
                require(was_killed, "lost", f"{thing} is in no state: {said}")
                thing.is_pending = True
                self.figures["pending"] += 1

    def _judge_doubled(self, stack: Stack, known: set[int]) -> None:
        """What a killed run has made is not made again for the same entry of the same program."""
        for thing in self.things.values():
            again = [one for one in self._made if one.urn == thing.urn and one is not thing]
            if id(thing) in known or not (thing.is_pending and thing.maker == stack.stack_name and again):
                continue
            excuse = self._excuse(thing)
            require(excuse, "doubled", f"{thing} was made again: {', '.join(map(str, again))}")
            self.figures[f"exception: {excuse}"] += 1
            thing.is_pending, thing.is_named = False, True

    def settle(self, stack: Stack) -> None:
        """Judge a stack that has reached its program: what killed runs have made is known, or was not promised."""
        for thing in self.things.values():
            if thing.maker == stack.stack_name and thing.is_pending:
                excuse = self._excuse(thing)
                require(excuse, "lost", f"{thing} is in no state, and no message has named it")
                self.figures[f"exception: {excuse}"] += 1
                thing.is_pending, thing.is_named = False, True

    def _excuse(self, thing: Thing) -> str:
        """Return which exception covers something that a killed run has made and no run has found; empty if none."""
        declared = self._declared(thing, thing.maker)
        version, hours, weeks = self.age(thing.maker)
        if declared is None:
            return "left the program"
        if version != thing.since[0]:
            return "another version"
        if declared.inputs != thing.inputs:
            return "declared otherwise"
        if thing.is_forced:
            return "not forced again"
        if weeks != thing.since[2]:
            return "weeks later"
        return "an hour later" if hours != thing.since[1] else ""

    def _excuse_of_taking(self, thing: Thing, stack: str) -> str:
        """Return which exception lets a stack take what the user took out of its state; empty if none.

        Its program still declares it, and Compute may still know the request that made it.
        """
        has_request_ids = not thing.key.startswith(("b/", "users/"))
        if not has_request_ids or thing.maker != stack or self._declared(thing, stack) is None:
            return ""
        return {"state delete": "still declared", "state move": "still declared"}.get(thing.released, thing.released)

    def _declared(self, thing: Thing, stack: str) -> Declared | None:
        """Return what a program declares of the resource for which a thing was made, also under a new name."""
        program = self.programs[stack].items()
        return next((one for name, one in program if thing.name in {name, *one.aliases}), None)

    def at(self, place: str) -> list[Thing]:
        """Return what is at a place, which is the identity of a resource."""
        vm, _, disk = place.partition(" ")
        label = place.rpartition("/")[2] if "/bulkInstances/" in place else None
        return [
            thing
            for key, thing in self.things.items()
            if key == place
            or (disk and key.startswith(f"{vm}/attachedDisks/") and thing.number.endswith(disk))
            or (label and "/instances/" in key and thing.content.get("labels", {}).get("gcpx-bulk") == label)
        ]


def _found(inventory: Inventory) -> Iterator[tuple[str, tuple[str, Any]]]:
    """Yield what exists, by key: number and content; a boot disk belongs to its instance."""
    for path, body in inventory.items.items():
        if "/attachedDisks/" in path:
            yield path, (str(body["source"]), body)
        elif not ("/disks/" in path and path.replace("/disks/", "/instances/") in inventory.items):
            yield path, (str(body.get("id", "")), body)


def _names(said: str, thing: Thing) -> bool:
    """Return whether messages name a thing."""
    return any(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", said) for word in _words(thing))


def _words(thing: Thing) -> Iterable[str]:
    """Return what a message may call a thing, in any of these ways."""
    parent, _, device = thing.key.partition("/attachedDisks/")
    if device:
        return f"{parent}/{device}", f"{parent}/{thing.number[thing.number.index('projects/') :]}"
    if thing.key.startswith("b/"):
        return (thing.key.removeprefix("b/"),)
    if "/instances/" in thing.key:
        fleet = thing.content.get("labels", {}).get("gcpx-bulk")
        return (thing.key.rpartition("/")[2], *([f"bulkInstances/{fleet}"] if fleet else []))
    return (thing.key,)


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]


def _stack(urn: str) -> str:
    return urn.split(":")[2]
