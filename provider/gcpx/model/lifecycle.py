"""What values mean in a resource's life: what a change does, what a preview predicts, what an import keeps.

The engine's calls are decided here, from the declaration and from what a resource says of itself (`Resource.location`,
`in_place`, `unique_key`, ...). Nothing here knows gRPC. Inputs may hold unknowns, and the hidden inputs of `naming`.
Unless a function says otherwise, they hold no secrets.
"""

from __future__ import annotations

import uuid
from typing import Any

import attrs

from gcpx.errors import UserError
from gcpx.model import naming, state
from gcpx.model.check import Finding, Report, as_path, check
from gcpx.model.compare import Comparison
from gcpx.model.diff import Change, diff
from gcpx.model.fields import ObjectType, Violation
from gcpx.model.links import Location
from gcpx.model.naming import NameRequest, without_hidden
from gcpx.model.resource import Call, Live, PartialError, Resource
from gcpx.model.secrecy import is_secret_at, mark_secrets, open_path
from gcpx.model.values import Path, is_below, reveal

_PLACES = ("project", "region", "zone")
_NOT_THERE = "must name something that exists in Google Cloud and fits here; the value is secret and is not shown"


@attrs.frozen
class Plan:
    """What a change of inputs does.

    Attributes:
        changes: the paths that differ; a resource is replaced if any of them replaces it.
        delete_first: the old resource must be deleted before the new one is created.
    """

    changes: list[Change]
    delete_first: bool

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths that differ."""
        return tuple(change.path for change in self.changes)

    @property
    def replaces(self) -> bool:
        """Whether the resource is replaced."""
        return any(change.replaces for change in self.changes)


def name_inputs(
    resource: Resource, request: NameRequest, olds: dict[str, Any], news: dict[str, Any]
) -> tuple[dict[str, Any], list[Finding]]:
    """Add a generated name to inputs that have none; return the inputs, and a failure if no name can be generated.

    Both inputs may hold secrets.
    """
    rule = resource.autoname
    if rule is None:
        return news, []
    named, failure = naming.apply(rule, request, olds, news)
    return named, [Finding((rule.property,), failure)] if failure is not None else []


def check_inputs(kind: ObjectType, values: dict[str, Any], problems: list[Violation]) -> Report:
    """Check values, which may hold secrets, by their declaration, and add problems found beyond it."""
    report = check(kind, values)
    report.failures.extend(Finding(as_path(name), reason) for name, reason in problems)
    return report


def check_online(resource: Resource, call: Call, olds: dict[str, Any], news: dict[str, Any]) -> list[Finding]:
    """Ask Google whether what inputs name exists; a reason that would reveal a secret is replaced.

    Both inputs may hold secrets.
    """
    marked = mark_secrets(resource.type, news, news)
    failures = [(as_path(name), reason) for name, reason in resource.check_online(call, reveal(olds), reveal(news))]
    return [Finding(path, _NOT_THERE if is_secret_at(marked, path) else reason) for path, reason in failures]


def plan(resource: Resource, old: dict[str, Any], new: dict[str, Any], outputs: dict[str, Any]) -> Plan:
    """Compare the last inputs with the new ones and decide what each difference does; offline.

    Without old inputs, as in states of other tools, the outputs stand in for them.
    """
    old = old or {name: value for name, value in outputs.items() if name in resource.type.inputs}
    if naming.keeps_name(resource.autoname, old, new):
        new = naming.with_real_name(resource.autoname, new, outputs)
    old = naming.with_real_name(resource.autoname, old, outputs)
    locations = (resource.location(old, outputs), resource.location(new, outputs))
    differences = diff(resource.type, old, new, outputs, Comparison(locations, sure=True))
    changes = [
        attrs.evolve(change, replaces=not resource.changes_in_place(change.path, new))
        for change in differences
        if not _names_same_place(resource, change.path, locations[0], new)
    ]
    if old.get(naming.IMPORTED):
        # The import made up what Google never returns, and recorded what Google chose: neither is a reason to replace.
        changes = [change for change in changes if is_below(change.path, resource.in_place) or not change.unseen]
    found = Plan(changes, delete_first=False)
    return attrs.evolve(found, delete_first=found.replaces and resource.must_delete_first(old, new))


def shown_changes(plan: Plan, old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """Return the changes of a plan as the user may see them: those within a secret are one change of the secret.

    Both inputs hold secrets as the engine marks them. The path of a change within a secret would name keys of maps.
    """
    shown: dict[Path, Change] = {}
    for change in plan.changes:
        path = open_path(change.path, old, new)
        replaces = change.replaces or (path in shown and shown[path].replaces)
        kind = change.kind if path == change.path else "update"
        shown[path] = attrs.evolve(change, path=path, kind=kind, replaces=replaces)
    return list(shown.values())


def _names_same_place(resource: Resource, path: Path, location: Location, new: dict[str, Any]) -> bool:
    """Return whether project, region or zone is written out or left out, and is where the resource is anyway."""
    if len(path) > 1 or path[0] not in _PLACES:
        return False
    named = getattr(resource.location(new, {}), path[0])
    return named is not None and named == getattr(location, path[0])


def create(resource: Resource, call: Call, inputs: dict[str, Any]) -> Live:
    """Create a resource, and give it a mark of its own.

    Raises what `Resource.create` raises.
    """
    mark = uuid.uuid4().hex
    try:
        return attrs.evolve(resource.create(call, inputs), mark=mark)
    except PartialError as error:
        error.live = attrs.evolve(error.live, adopted=True, mark=mark)  # an earlier run may have created it
        raise


def update(resource: Resource, call: Call, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> Live:
    """Update a resource and keep its mark; create it if nothing came of a creation whose result was not known.

    Raises what `Resource.update` and `Resource.create` raise.
    """
    try:
        return _marked(_update(resource, call, resource_id, old, new), call.last)
    except PartialError as error:
        error.live = _marked(error.live, call.last)
        raise


def read(resource: Resource, call: Call, resource_id: str, inputs: dict[str, Any] | None) -> tuple[Live | None, str]:
    """Read a resource and keep its mark; return it with what is left to do, if its last change is not finished.

    Raises what `Resource.settle` and `Resource.read` raise, except PartialError.
    """
    _settle(resource, call, resource_id)
    try:
        live, unfinished = resource.read(call, resource_id, inputs), ""
    except PartialError as error:
        live, unfinished = error.live, str(error)
    return None if live is None else _marked(live, call.last), unfinished


def delete(resource: Resource, call: Call, resource_id: str) -> None:
    """Delete a resource, with what an interrupted run is still creating.

    Raises what `Resource.settle` and `Resource.delete` raise.
    """
    _settle(resource, call, resource_id)
    resource.delete(call, resource_id)


def _settle(resource: Resource, call: Call, resource_id: str) -> None:
    if call.last.get(naming.UNREAD):
        resource.settle(call, resource_id)


def _marked(live: Live, last: dict[str, Any]) -> Live:
    """Give a resource the mark in its last outputs."""
    return attrs.evolve(live, adopted=naming.ADOPTED in last, mark=naming.mark_of(last))


def _update(resource: Resource, call: Call, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> Live:
    is_uncertain = call.last.get(naming.UNREAD) and resource.may_create(resource_id)
    if is_uncertain and _is_missing(resource, call, resource_id, new):
        # What the engine has shown of this resource is not about to be replaced, so it may be adopted.
        live = resource.create(attrs.evolve(call, shown=frozenset()), new)
        if call.autonamed and live.id != resource_id:  # an update cannot change the ID
            words = f"{live.id} was created by an interrupted run, and {resource_id} was not"
            raise UserError(f"{words}; run `pulumi up --refresh` to take it over")
        return live
    return resource.update(attrs.evolve(call, autonamed=False), resource_id, old, new)


def _is_missing(resource: Resource, call: Call, resource_id: str, inputs: dict[str, Any]) -> bool:
    try:
        return resource.read(call, resource_id, inputs) is None
    except PartialError:
        return False


def predict(resource: Resource, inputs: dict[str, Any], last: dict[str, Any]) -> dict[str, Any]:
    """Predict the outputs of a creation or an update: those that are certain; an absent one is unknown.

    `last` are the outputs before an update, which may hold secrets; those that an update does not change stay.
    """
    kind = resource.type
    stable = {
        name: value
        for name, value in last.items()
        if name in kind.properties and name not in kind.inputs and not kind.properties[name].traits.volatile
    }
    return stable | state.predicted(kind, without_hidden(inputs)) | resource.predict(inputs)


def outputs_of(resource: Resource, live: Live, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the outputs that go into state: Google's values, in the user's spelling where that means the same."""
    given = without_hidden(inputs)
    outputs = state.outputs(resource.type, given, live.properties, resource.comparison(given, live.properties))
    return outputs | hidden_outputs(live)


def hidden_outputs(live: Live) -> dict[str, Any]:
    """Return the outputs that hold the mark of a resource."""
    return {naming.ADOPTED if live.adopted else naming.CREATED: live.mark} if live.mark else {}


def refresh(resource: Resource, live: Live, inputs: dict[str, Any], last: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs that a refresh writes: the user's properties with Google's values, and what drifted."""
    rule, how = resource.autoname, resource.comparison(inputs, live.properties)
    fresh = state.refreshed(resource.type, inputs, live.properties, last, how)
    if rule is not None and inputs.get(naming.AUTONAMED):  # the name that an earlier run generated is no drift
        fresh[rule.property] = inputs[rule.property]
    return fresh


def import_inputs(resource: Resource, live: Live) -> dict[str, Any]:
    """Return the smallest inputs that describe an imported resource: without defaults and what others imply."""
    defaults = resource.provider_defaults()
    inputs = state.minimal(resource.type, live.properties, None, resource.comparison({}, live.properties))
    kept = {name: value for name, value in inputs.items() if defaults.get(name) != value}
    return {name: value for name, value in kept.items() if name not in resource.left_out_of_imports} | {
        naming.IMPORTED: True
    }
