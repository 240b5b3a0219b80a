"""What users read about instances that match a fleet's ID: strangers, new members, and other fleets."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import attrs

from gcpx.compute.bulk_instances.fleet import (
    TRACKING_LABEL,
    Fleet,
    Instance,
    fleet_values,
    is_tracked,
    membership_labels,
)
from gcpx.compute.bulk_instances.preview import names_in_words
from gcpx.model.fields import nested, text
from gcpx.model.import_command import import_command
from gcpx.model.links import name_of
from gcpx.model.resource import Context, name_in_urn

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesValues


@contextmanager
def naming_strangers(context: Context, fleet: Fleet) -> Iterator[None]:
    """Warn of the strangers that the block has found, also if it fails."""
    try:
        yield
    finally:
        strangers = list(fleet.membership.strangers.values())
        if strangers:
            context.warn(_warning(context, fleet, strangers))


def name_new_members(context: Context, fleet: Fleet, members: list[Instance]) -> None:
    """Say which members a refresh adds because they match the fleet's ID; an import says nothing."""
    known = {item.get("id") for item in fleet_values(context.prior).get("members") or ()}
    new = [member for member in members if str(member["id"]) not in known]
    if new and "members" in context.prior:
        words = (
            f"{_number(new)} {fleet.id} and {'is now a member' if len(new) == 1 else 'are now members'} of this fleet"
        )
        context.warn(
            f"{words}: {_names(new)}. The next preview shows which members are surplus, if any; `pulumi up` deletes these"
        )


def warn_of_overlap(context: Context, fleet: Fleet, inputs: BulkInstancesValues) -> None:
    """Warn if the instances of a new fleet match the ID of another fleet of the stack, by their labels or names."""
    labels = nested(nested(inputs, "instanceProperties"), "labels")
    ids = [*(f"labels/{key}={value}" for key, value in labels.items()), f"namePattern/{text(inputs, 'namePattern')}"]
    for found in ids:
        holder = context.urn_of(attrs.evolve(fleet, id=found).resource_id)
        if holder is not None and holder != context.urn:
            context.warn(
                f"the instances of this fleet match {found}, the ID of the fleet {name_in_urn(holder)} of this stack, which "
                "names them in a warning and leaves them alone; give the fleets labels and names that do not overlap"
            )


def matching(instances: list[Instance]) -> str:
    """Say which instances match the ID of a fleet."""
    return f"{_number(instances)} it: {_names(instances)}"


def what_matches(found: list[Instance], own: list[Instance]) -> str:
    """Say why the ID of a new fleet cannot be used, which matches `found`; the fleet itself created `own`."""
    ids = {member["id"] for member in own}
    others = [instance for instance in found if instance["id"] not in ids]
    if not others:
        return f"{_number(found)} it, more than the fleet should have: {_names(found)}"
    were = "was" if len(others) == 1 else "were"
    return f"{_number(others)} it and {were} not created by this resource: {_names(others)}"


def _warning(context: Context, fleet: Fleet, strangers: list[Instance]) -> str:
    is_one = len(strangers) == 1
    what = f"the label {_label(fleet)}" if is_tracked(fleet.id) else fleet.id
    return (
        f"{_number(strangers)} {what} and {'is not a member' if is_one else 'are not members'} of this fleet, because "
        f"{'it is' if is_one else 'they are'} not in the state, and no known operation of this resource created "
        f"{'it' if is_one else 'them'}: {_names(strangers)}. gcpx does not count, change or delete "
        f"{'it' if is_one else 'them'}. {_advice(context, fleet, strangers[0])}"
    )


def _advice(context: Context, fleet: Fleet, stranger: Instance) -> str:
    if not is_tracked(fleet.id) and TRACKING_LABEL in stranger.get("labels", {}):
        return (
            f"{stranger['name']} has the label {TRACKING_LABEL}={stranger['labels'][TRACKING_LABEL]} of another fleet: give "
            "the fleets labels and names that do not overlap. To take it over, remove the other fleet from its stack's "
            "state with `pulumi state delete`, remove the label, and run `pulumi refresh`"
        )
    if not is_tracked(fleet.id):
        return (
            "To add every matching instance to the fleet, run `pulumi refresh`. The next preview shows which members are "
            "surplus, if any; `pulumi up` deletes these"
        )
    key = next(iter(membership_labels(fleet.id)))
    command = (
        f"gcloud compute instances remove-labels {stranger['name']} --labels={key} "
        f"--zone={name_of(stranger['zone'])} --project={fleet.project}"
    )
    name = stranger["name"]
    return (
        f"If {name} has the label by mistake, remove the label with `{command}`. If {name} belongs to the fleet, raise "
        f"`count` to include it, and run `pulumi state delete {shlex.quote(context.urn)}` and then "
        f"{import_command(context, fleet.resource_id)}, which imports every instance that has the label"
    )


def _label(fleet: Fleet) -> str:
    return "".join(f"{key}={value}" for key, value in membership_labels(fleet.id).items())


def _number(instances: list[Instance]) -> str:
    return f"{len(instances):,} {'instance matches' if len(instances) == 1 else 'instances match'}"


def _names(instances: list[Instance]) -> str:
    return names_in_words(instance["name"] for instance in instances)
