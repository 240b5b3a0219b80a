"""The warnings about instances that match a fleet's ID and are not its members."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager

from gcpx.compute.bulk_instances.fleet import TRACKING_LABEL, Fleet, Instance, is_tracked
from gcpx.model.import_command import import_command
from gcpx.model.links import name_of
from gcpx.model.resource import Context
from gcpx.model.words import counted, names_in_words


@contextmanager
def naming_unmanaged(context: Context, fleet: Fleet) -> Iterator[None]:
    """Warn of the unmanaged instances that the block has found, also if it fails.

    Only gcpx sets its label. Others may also use the labels and names by which a fleet was imported.
    """
    try:
        yield
    finally:
        instances = list(fleet.membership.unmanaged.values())
        if instances and is_tracked(fleet.id):
            context.warn(_warning(context, fleet, instances))


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


def _warning(context: Context, fleet: Fleet, instances: list[Instance]) -> str:
    is_one = len(instances) == 1
    return (
        f"{_number(instances)} the label {TRACKING_LABEL}={fleet.id} and {'is not a member' if is_one else 'are not members'} of this fleet, because "
        f"{'it is' if is_one else 'they are'} not in the state, and no known operation of this resource created "
        f"{'it' if is_one else 'them'}: {_names(instances)}. gcpx does not count, change or delete "
        f"{'it' if is_one else 'them'}. {_advice(context, fleet, instances[0])}"
    )


def _advice(context: Context, fleet: Fleet, instance: Instance) -> str:
    command = (
        f"gcloud compute instances remove-labels {instance['name']} --labels={TRACKING_LABEL} "
        f"--zone={name_of(instance['zone'])} --project={fleet.project}"
    )
    name = instance["name"]
    return (
        f"If {name} has the label by mistake, remove the label with `{command}`. If {name} belongs to the fleet, raise "
        f"`count` to include it, and run `pulumi state delete {shlex.quote(context.urn)}` and then "
        f"{import_command(context, fleet.resource_id)}, which imports every instance that has the label"
    )


def _number(instances: list[Instance]) -> str:
    return counted(len(instances), "instance matches", "instances match")


def _names(instances: list[Instance]) -> str:
    return names_in_words(instance["name"] for instance in instances)
