"""What users read about strangers: the instances that match a fleet's ID and are not its members."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager

from gcpx.compute.bulk_instances.fleet import Fleet, Instance
from gcpx.compute.bulk_instances.fleet_id import is_tracked
from gcpx.compute.bulk_instances.rollout.words import names_in_words
from gcpx.model.call import Call
from gcpx.model.import_command import import_command
from gcpx.model.links import name_of


@contextmanager
def naming_strangers(call: Call, fleet: Fleet) -> Iterator[None]:
    """Warn of the strangers that the block has found, also if it fails."""
    try:
        yield
    finally:
        strangers = list(fleet.membership.strangers.values())
        if strangers:
            call.warn(_warning(call, fleet, strangers))


def name_new_members(call: Call, fleet: Fleet, members: list[Instance]) -> None:
    """Say which members a refresh adds because they match the fleet's ID; an import says nothing."""
    known = {item.get("id") for item in call.last.get("members") or ()}
    new = [member for member in members if str(member["id"]) not in known]
    if new and "members" in call.last:
        words = (
            f"{_number(new)} {fleet.id} and {'is now a member' if len(new) == 1 else 'are now members'} of this fleet"
        )
        call.warn(
            f"{words}: {_names(new)}. The next preview shows which members are surplus, if any; `pulumi up` deletes these"
        )


def what_matches(found: list[Instance], own: list[Instance]) -> str:
    """Say why the ID of a new fleet cannot be used, which matches `found`; the fleet itself created `own`."""
    ids = {member["id"] for member in own}
    others = [instance for instance in found if instance["id"] not in ids]
    if not others:
        return f"{_number(found)} it, more than the fleet should have: {_names(found)}"
    were = "was" if len(others) == 1 else "were"
    return f"{_number(others)} it and {were} not created by this resource: {_names(others)}"


def _warning(call: Call, fleet: Fleet, strangers: list[Instance]) -> str:
    is_one = len(strangers) == 1
    what = f"the label {_label(fleet)}" if is_tracked(fleet.id) else fleet.id
    return (
        f"{_number(strangers)} {what} and {'is not a member' if is_one else 'are not members'} of this fleet, because "
        f"{'it is' if is_one else 'they are'} not in the state, and no known operation of this resource created "
        f"{'it' if is_one else 'them'}: {_names(strangers)}. gcpx does not count, change or delete "
        f"{'it' if is_one else 'them'}. {_advice(call, fleet, strangers[0])}"
    )


def _advice(call: Call, fleet: Fleet, stranger: Instance) -> str:
    if not is_tracked(fleet.id):
        return (
            "To add every matching instance to the fleet, run `pulumi refresh`. The next preview shows which members are "
            "surplus, if any; `pulumi up` deletes these"
        )
    key = next(iter(fleet.labels))
    command = (
        f"gcloud compute instances remove-labels {stranger['name']} --labels={key} "
        f"--zone={name_of(stranger['zone'])} --project={fleet.project}"
    )
    name = stranger["name"]
    return (
        f"If {name} has the label by mistake, remove the label with `{command}`. If {name} belongs to the fleet, raise "
        f"`count` to include it, and run `pulumi state delete {shlex.quote(call.urn)}` and then "
        f"{import_command(call, fleet.resource_id)}, which imports every instance that has the label"
    )


def _label(fleet: Fleet) -> str:
    return "".join(f"{key}={value}" for key, value in fleet.labels.items())


def _number(instances: list[Instance]) -> str:
    return f"{len(instances):,} {'instance matches' if len(instances) == 1 else 'instances match'}"


def _names(instances: list[Instance]) -> str:
    return names_in_words(instance["name"] for instance in instances)
