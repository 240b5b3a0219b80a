"""What users and others do now and then to two stacks; the random programs do each of it between their runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import attrs
from engines.clock import HOUR
from engines.oracle import Thing
from engines.stack import Declared, Entry, provider_id_of
from values.programs import BUCKET, FLEET, PROJECT, ZONE

if TYPE_CHECKING:
    from engines.stacks_machine import StacksMachine

World = Callable[["StacksMachine", int, int], bool]
"""What happens to a stack of a number, with something that a place chooses; tells whether there was something."""
_YEAR: Final = 365 * 24 * HOUR


def _entry(machine: StacksMachine, number: int, place: int) -> Entry | None:
    """Return a finished entry of a state."""
    entries = machine.finished(number)
    return entries[place % len(entries)] if entries else None


def _declared(machine: StacksMachine, number: int, place: int) -> Entry | None:
    """Return a finished entry that the program declares."""
    entries = [entry for entry in machine.finished(number) if entry.name in machine.programs[number]]
    return entries[place % len(entries)] if entries else None


def _member(machine: StacksMachine, number: int, place: int) -> Thing | None:
    """Return a member of a fleet of a stack."""
    fleets = [entry for entry in machine.finished(number) if entry.urn.split("::")[2] == FLEET]
    members = [thing for entry in fleets for thing in machine.oracle.claimed(entry)]
    return members[place % len(members)] if members else None


def _release(machine: StacksMachine, number: int, entry: Entry, how: str) -> None:
    """Let the user take an entry out of a state; what another entry of the same state has stays the stack's."""
    machine.oracle.release(entry, how)
    for other in machine.stacks[number].entries:
        if other is not entry and other.resource.id == entry.resource.id:
            machine.oracle.give(other)


def state_delete(machine: StacksMachine, number: int, place: int) -> bool:
    """Take a resource out of the state, and mostly also out of the program."""
    entry = _entry(machine, number, place)
    if entry is None:
        return False
    _release(machine, number, entry, "state delete")
    machine.stacks[number].state_delete(entry.name)
    if place % 3:
        machine.programs[number].pop(entry.name, None)
    return True


def state_move(machine: StacksMachine, number: int, place: int) -> bool:
    """Move a resource to the other stack, whose program declares it from then on."""
    entry, other = _declared(machine, number, place), machine.stacks[1 - number]
    if entry is None or entry.name in {*machine.programs[1 - number], *(one.name for one in other.entries)}:
        return False
    declared = machine.programs[number][entry.name]
    _release(machine, number, entry, "state move")
    machine.stacks[number].state_move(other, entry.name)
    machine.oracle.give(other.entries[-1])
    machine.programs[1 - number][entry.name] = declared
    if place % 3:
        del machine.programs[number][entry.name]
    return True


def import_again(machine: StacksMachine, number: int, place: int) -> bool:
    """Take a resource out of the state, and import it."""
    entry = _entry(machine, number, place)
    if entry is None:
        return False
    _release(machine, number, entry, "state delete")
    machine.stacks[number].state_delete(entry.name)
    machine.import_(number, entry.resource.id, entry.name, entry.urn.split("::")[2])
    return True


def import_second(machine: StacksMachine, number: int, place: int) -> bool:
    """Import a resource under a second name, which the program may declare or not."""
    entry = _declared(machine, number, place)
    name = f"{entry.name.partition('-')[0]}-second" if entry is not None else ""
    if entry is None or any(one.name == name for one in machine.stacks[number].entries):
        return False
    machine.import_(number, entry.resource.id, name, entry.urn.split("::")[2])
    if place % 2 and not machine.stacks[number].failures:
        imported = machine.stacks[number].entries[-1].resource.inputs
        names = {key: value for key, value in imported.items() if key in {"name", "fleetId"}}
        inputs = names | machine.programs[number][entry.name].inputs  # the two do not contradict each other
        machine.programs[number][name] = Declared(entry.urn.split("::")[2], inputs)
    return True


def restored_member(machine: StacksMachine, number: int, place: int) -> bool:
    """Restore an instance from the machine image of a member, as somebody else: the labels come with it."""
    member = _member(machine, number, place)
    if member is None:
        return False
    machine.restored += 1
    name, store = f"restored-{machine.restored}", machine.cloud.emulator.store
    zone, _, original = member.key.rpartition("/")
    body = json.dumps(store.get(member.key)).replace(f'/{original}"', f'/{name}"')
    store.put(f"{zone}/{name}", json.loads(body) | {"name": name, "id": str(10**18 + machine.restored)})
    return True


def copied_label(machine: StacksMachine, number: int, place: int) -> bool:
    """Give a stranger's instance the labels of a member."""
    member = _member(machine, number, place)
    if member is None:
        return False
    labels = dict(member.content["labels"])
    machine.cloud.change(f"projects/{PROJECT}/zones/{ZONE}/instances/web-100", lambda body: body.update(labels=labels))
    return True


def bucket_anew(machine: StacksMachine, number: int, place: int) -> bool:
    """Delete the bucket with its notifications, and make another one of the same name."""
    del number, place
    things = list(machine.oracle.things)
    machine.cloud.make_bucket_anew()
    return any(key.startswith(f"b/{BUCKET}/") for key in things)


def upgrade(machine: StacksMachine, number: int, place: int) -> bool:
    """Use another version of the SDK, with which the default provider has another ID."""
    stack = machine.stacks[number]
    stack.provider_id = provider_id_of(f"{stack.stack_name} {stack.provider_id} {place}")
    return True


def taint(machine: StacksMachine, number: int, place: int) -> bool:
    """Taint a resource."""
    entry = _declared(machine, number, place)
    if entry is not None:
        machine.stacks[number].taint(entry.name)
    return entry is not None


def rename(machine: StacksMachine, number: int, place: int) -> bool:
    """Rename a resource, with an alias."""
    program = machine.programs[number]
    names = [name for name in program if not name.endswith("-second")]
    if not names:
        return False
    old = names[place % len(names)]
    slot, _, is_renamed = old.partition("-")
    new = slot if is_renamed else f"{slot}-renamed"
    changed = {
        new if name == old else name: attrs.evolve(one, aliases=(old,)) if name == old else one
        for name, one in program.items()
    }
    machine.programs[number] = changed
    return True


def hour(machine: StacksMachine, number: int, place: int) -> bool:
    """Let an hour pass, after which Compute forgets request IDs."""
    del number, place
    machine.cloud.clock.advance(HOUR + 1)
    machine.cloud.emulator.operations.forget_requests()
    machine.oracle.pass_hour()
    return True


def year(machine: StacksMachine, number: int, place: int) -> bool:
    """Let a year pass, after which Compute has also forgotten the operations."""
    hour(machine, number, place)
    machine.cloud.clock.advance(_YEAR)
    machine.cloud.emulator.store.run("delete from operations where settled = 1")
    machine.oracle.pass_weeks()
    return True


WORLDS: Final[dict[str, World]] = {
    "state delete": state_delete,
    "state move": state_move,
    "import again": import_again,
    "import under a second name": import_second,
    "restored member": restored_member,
    "copied label": copied_label,
    "bucket anew": bucket_anew,
    "upgrade": upgrade,
    "taint": taint,
    "rename": rename,
    "hour": hour,
    "year": year,
}
"""The worlds by name."""
OPTIONS: Final = (
    *("aliases", "ignore_changes", "replace_on_changes", "replace_with", "replacement_trigger"),
    *("delete_before_replace", "retain_on_delete"),
)
"""The resource options that the programs have."""
EXPECTED: Final = frozenset({f"world: {name}" for name in (*WORLDS, *OPTIONS, "target-replace")} | {
    *("crash", "crash after", "cancel", "faults", "lost for good", "delete", "edit"),
})  # fmt: skip
"""What must occur in a long search."""
