"""Decides what the engine's calls mean: what a change does, what a preview predicts, what an import keeps.

The decisions follow from the declaration and from the methods of `Resource` (`location`, `in_place`, `unique_key`,
...). Nothing here knows gRPC. Inputs may hold unknowns, and the hidden inputs of `naming`. Unless a function says
otherwise, they hold no secrets.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection
from typing import Any

import attrs

from gcpx.errors import UserError
from gcpx.model import naming
from gcpx.model.codec import with_links_of
from gcpx.model.compare import Comparison
from gcpx.model.context import Context, Sharing
from gcpx.model.diff import Change, diff
from gcpx.model.fields import Failure
from gcpx.model.links import PLACES, Location
from gcpx.model.naming import CreationMark, without_hidden
from gcpx.model.resource import Announcing, Growing, PartialError, Resource, State
from gcpx.model.secrecy import is_secret_at, mark_secrets, open_path
from gcpx.model.state import merged_outputs, minimal_inputs, predicted_outputs, refreshed_inputs, with_absent
from gcpx.model.values import UNKNOWN, Path, Secret, has_secret, has_unknown, is_below, reveal

_MOVED = (
    "the replacement is created with {name}: {there}, because the provider's project, region or zone has changed; to "
    "replace it where it is, set {name}: {here}"
)
"""The warning about a replacement that follows the provider to another place."""
_NOT_THERE = "must name something that exists in Google Cloud and fits here; the value is secret and is not shown"


@attrs.frozen
class Plan:
    """The effects of a change of inputs.

    Attributes:
        changes: the paths that differ; a resource is replaced if any of them replaces it.
        delete_first: if the resource is replaced, the old one must be deleted before the new one is created. The option
            `replaceOnChanges` can turn an update into a replacement.
        warnings: what the user should know of a replacement, or of a resource that stays.
    """

    changes: list[Change]
    delete_first: bool
    warnings: list[str] = attrs.Factory(list)


def check_online(
    resource: Resource[Any], context: Context, olds: dict[str, Any], news: dict[str, Any]
) -> list[Failure]:
    """Ask Google whether the resources that inputs name exist; replace reasons that would reveal a secret.

    Both inputs may hold secrets.
    """
    marked = mark_secrets(resource.type, news, news)
    return [
        attrs.evolve(failure, reason=_NOT_THERE) if is_secret_at(marked, failure.path) else failure
        for failure in resource.check_online(context, reveal(olds), reveal(news))
    ]


def plan(resource: Resource[Any], old: dict[str, Any], new: dict[str, Any], outputs: dict[str, Any]) -> Plan:
    """Compare the last inputs with the new ones, and decide the effect of each difference; offline.

    Without old inputs, as in states of other tools, the outputs take their place.
    """
    old, new = _completed(resource, old, new, outputs)
    changes = [
        change if is_below(change.path, resource.in_place) else attrs.evolve(change, replaces=True)
        for change in _differences(resource, old, new, outputs)
    ]
    known, moved = {change.path for change in changes}, resource.moved(old, new, outputs)
    former = _placed(resource, old, outputs) if moved else old
    deletes_first = resource.must_delete_first(former, new)
    if not any(change.replaces for change in changes):
        reminder = resource.reminder(outputs) if isinstance(resource, Announcing) else ""
        return Plan(changes, deletes_first, [reminder] if reminder else [])
    moves = {name: places for name, places in moved.items() if (name,) not in known}
    changes += [Change((name,), "update", replaces=True, is_input=False) for name in moves]
    warnings = [_MOVED.format(name=name, here=here, there=there) for name, (here, there) in moves.items()]
    deleted = resource.deleted_first(former, new, outputs) if deletes_first else ""
    return Plan(changes, deletes_first, [*warnings, *([deleted] if deleted else [])])


def changed_paths(
    resource: Resource[Any], old: dict[str, Any], new: dict[str, Any], outputs: dict[str, Any]
) -> tuple[Path, ...]:
    """Return the paths of the inputs that an update changes, as `plan` compares them."""
    return tuple(change.path for change in _differences(resource, *_completed(resource, old, new, outputs), outputs))


def _completed(
    resource: Resource[Any], old: dict[str, Any], new: dict[str, Any], outputs: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return old inputs completed by the outputs, and both inputs with the resource's actual name."""
    old = old or {name: value for name, value in outputs.items() if name in resource.type.inputs}
    return naming.with_real_name(resource.autoname, old, new, outputs)


def _differences(
    resource: Resource[Any], old: dict[str, Any], new: dict[str, Any], outputs: dict[str, Any]
) -> list[Change]:
    """Compare completed inputs by meaning, and add unfinished parts of earlier updates."""
    locations = (resource.location(old, outputs), resource.location(new, outputs))
    differences = diff(resource.type, old, new, outputs, Comparison(locations, sure=True))
    changes = [change for change in differences if not _names_same_place(resource, change.path, locations[0], new)]
    if old.get(naming.IMPORTED):
        # The import made up values that Google never returns, and recorded Google's choices: no reasons to replace.
        opened = [part for change in changes for part in _opened(resource, change, old, new)]
        changes = [change for change in opened if not change.unseen or _was_recorded(resource, change, new)]
    known = {change.path[0] for change in changes}
    left = [(path, True) for path in resource.left_over(new, outputs)] if isinstance(resource, Growing) else []
    left += [((name,), False) for name in _not_as_wanted(resource, new, outputs, Comparison(locations, sure=True))]
    return changes + [Change(path, "update", is_input=is_input) for path, is_input in left if path[0] not in known]


def _opened(resource: Resource[Any], change: Change, old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """Return the changes within an object that only one side has, if an import recorded some of its properties."""
    if not any(is_below(path, (change.path,)) and path != change.path for path in resource.compared_if_given):
        return [change]
    kind: Any = resource.type
    for name in map(str, change.path):
        kind, old, new = kind.properties[name].type, old.get(name) or {}, new.get(name) or {}
    if UNKNOWN in (old, new):
        return [change]
    return [attrs.evolve(part, path=change.path + part.path, unseen=change.unseen) for part in diff(kind, old, new, {})]


def _was_recorded(resource: Resource[Any], change: Change, new: dict[str, Any]) -> bool:
    """Return whether an import recorded the old value of a change, even if Google may have chosen that value."""
    if is_below(change.path, _compared(resource)):
        return True
    value: Any = new
    for name in change.path if change.kind == "delete" else ():  # the program leaves it out, or gives its default
        value = value.get(name) if isinstance(value, dict) else None
    return value is not None and is_below(change.path, resource.compared_if_given)


def _not_as_wanted(resource: Resource[Any], new: dict[str, Any], outputs: dict[str, Any], how: Comparison) -> list[str]:
    """Return the measured properties with outputs that differ from the new inputs; none before there are outputs."""
    if not outputs:
        return []
    return [
        name
        for name, prop in resource.type.measured.items()
        if not has_unknown(new.get(name)) and not how.same(prop, outputs.get(name), new.get(name))
    ]


def shown_changes(plan: Plan, old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """Return the changes of a plan for the user: changes within a secret are one change of the secret.

    Both inputs have the engine's secret marks. The path of a change within a secret would show keys of maps.
    """
    shown: dict[Path, Change] = {}
    for change in plan.changes:
        path = open_path(change.path, old, new)
        replaces = change.replaces or (path in shown and shown[path].replaces)
        kind = change.kind if path == change.path else "update"
        shown[path] = attrs.evolve(change, path=path, kind=kind, replaces=replaces)
    return list(shown.values())


def newly_secret(resource: Resource[Any], outputs: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """Return the inputs that are newly secret but plain in the state's outputs, as updates that mark them there.

    Outputs and inputs have the engine's secret marks.
    """
    if not has_secret(new):
        return []
    plain = {name: value for name, value in reveal(outputs).items() if name in resource.type.properties}
    marked = mark_secrets(resource.type, plain, new)
    return [Change((name,), "update") for name, value in marked.items() if _gains_secret(outputs[name], value)]


def _gains_secret(before: Any, marked: Any) -> bool:
    """Return whether a value, or a part of it, is newly marked as secret."""
    if isinstance(before, Secret):
        return False
    if isinstance(marked, dict) and isinstance(before, dict):
        return any(_gains_secret(before.get(key), item) for key, item in marked.items())
    if isinstance(marked, list) and isinstance(before, list):
        return any(map(_gains_secret, before, marked))
    return isinstance(marked, Secret)


def _names_same_place(resource: Resource[Any], path: Path, location: Location, new: dict[str, Any]) -> bool:
    """Return whether a change only adds or removes the project, region or zone in which the resource already is."""
    if len(path) > 1 or path[0] not in PLACES:
        return False
    named = getattr(resource.location(new, {}), path[0])
    return named is not None and named == getattr(location, path[0])


def _placed(resource: Resource[Any], inputs: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
    """Return inputs with the resource's place: from the outputs, if the inputs leave it to the provider."""
    places = {name: outputs[name] for name in PLACES if name in resource.type.inputs and outputs.get(name)}
    return places | {name: value for name, value in inputs.items() if value is not None}


def create(resource: Resource[Any], context: Context, inputs: dict[str, Any]) -> State:
    """Create a resource, and record its creation.

    An engine that forces a replacement does not always ask whether to delete the old resource first. The program may
    retain the old resource, so only the engine may delete it.
    Raises the same as `Resource.create`.
    """
    mark = CreationMark(uuid.uuid4().hex, context.requester)
    old = {**context.replaces.inputs} if context.replaces else {}
    named = {**inputs, naming.AUTONAMED: True} if context.autonamed else inputs
    context = attrs.evolve(context, is_blocked=bool(old) and resource.must_delete_first(old, named))
    try:
        state = resource.create(context, inputs)
        return attrs.evolve(state, mark=attrs.evolve(mark, adopted=state.adopted))
    except PartialError as error:  # an earlier run may have created it
        error.state = attrs.evolve(error.state, mark=attrs.evolve(mark, adopted=True))
        raise


def update(
    resource: Resource[Any], context: Context, resource_id: str, old: dict[str, Any], new: dict[str, Any]
) -> State:
    """Update a resource and keep its mark; create it if a creation with an unknown result turns out to have failed.

    Raises the same as `Resource.update` and `Resource.create`.
    """
    is_uncertain = context.prior.get(naming.UNREAD) and resource.may_create(resource_id)
    try:
        if is_uncertain and _is_missing(resource, context, resource_id, new):
            state = _created_again(resource, context, resource_id, new)
        else:
            state = resource.update(attrs.evolve(context, autonamed=False), resource_id, old, new)
    except PartialError as error:
        error.state = _marked(error.state, context.prior)
        raise
    return _marked(state, context.prior)


def read(
    resource: Resource[Any], context: Context, resource_id: str, inputs: dict[str, Any] | None
) -> tuple[State | None, str]:
    """Read a resource and keep its mark; also return the error of an unfinished last change.

    A shared read may answer it, but counts only if it shows nothing new: the same as the state or, in an import, an
    existing resource. Otherwise the resource is read again by its own request, because lists may lag or omit something.
    Raises the same as `Resource.settle` and `Resource.read`, except PartialError.
    """
    if context.prior.get(naming.UNREAD):
        resource.settle(context, resource_id)
        return _read(resource, context, resource_id, inputs)
    messages: list[tuple[Callable[[str], None], str]] = []
    sharing = Sharing()
    shared = attrs.evolve(
        context,
        sharing=sharing,
        inform=lambda message: messages.append((context.inform, message)),
        warn=lambda message: messages.append((context.warn, message)),
    )
    is_new = False
    try:
        state, unfinished = _read(resource, shared, resource_id, inputs)
        is_new = sharing.used and _is_new(resource, context, state, unfinished, inputs)
    except Exception:  # a list may also contain something malformed
        is_new = sharing.used
        if not is_new:
            raise
    finally:
        for say, message in () if is_new else messages:
            say(message)
    return _read(resource, context, resource_id, inputs) if is_new else (state, unfinished)


def _is_new(
    resource: Resource[Any], context: Context, state: State | None, unfinished: str, inputs: dict[str, Any] | None
) -> bool:
    """Return whether a read differs from the state; in an import, whether there is nothing to import."""
    if state is None or unfinished:
        return True
    return inputs is not None and outputs_of(resource, state, inputs) != with_absent(resource.type, context.prior)


def _read(
    resource: Resource[Any], context: Context, resource_id: str, inputs: dict[str, Any] | None
) -> tuple[State | None, str]:
    """Read a resource as `read` does, once."""
    try:
        state, unfinished = resource.read(context, resource_id, inputs), ""
    except PartialError as error:
        state, unfinished = error.state, str(error)
    if state is not None and context.prior.get(naming.UNFINISHED):
        unfinished = unfinished or "the last change did not succeed; the next update goes on from there"
    return None if state is None else _marked(state, context.prior), unfinished


def is_read_first(resource: Resource[Any], state: State, *, is_finished: bool, validates_online: bool) -> bool:
    """Return whether the next run should read a resource before it compares: after a failure, or with online checks.

    Only a `Growing` resource is worth these requests, once it has been read for the first time.
    """
    is_read = not state.properties.get(naming.UNREAD)
    return isinstance(resource, Growing) and is_read and (validates_online or not is_finished)


def delete(resource: Resource[Any], context: Context, resource_id: str) -> None:
    """Delete a resource, including the results of an interrupted run.

    Raises the same as `Resource.settle` and `Resource.delete`.
    """
    if context.prior.get(naming.UNREAD) or isinstance(resource, Growing):
        resource.settle(context, resource_id)
    resource.delete(context, resource_id)


def _marked(state: State, prior: dict[str, Any]) -> State:
    """Return a resource with the creation mark of its last outputs."""
    return attrs.evolve(state, mark=CreationMark.of(prior))


def _created_again(resource: Resource[Any], context: Context, resource_id: str, inputs: dict[str, Any]) -> State:
    """Create a resource that is already in the state, within an update, which cannot change its ID."""
    state = resource.create(context, inputs)
    if context.autonamed and state.id != resource_id:
        words = f"an interrupted run created {state.id}, not {resource_id}"
        raise UserError(f"{words}; run `pulumi up --refresh` to take it over")
    return state


def _is_missing(resource: Resource[Any], context: Context, resource_id: str, inputs: dict[str, Any]) -> bool:
    try:
        return resource.read(context, resource_id, inputs) is None
    except PartialError:
        return False


def predict(
    resource: Resource[Any], inputs: dict[str, Any], prior: dict[str, Any], unchanged: Collection[str] = ()
) -> dict[str, Any]:
    """Return the outputs of a creation or an update that are certain; the others are unknown.

    `prior` are the outputs before an update, which may hold secrets. Outputs that no update changes stay, and so do the
    volatile outputs in `unchanged`, which this update does not change.
    """
    kind = resource.type
    was_read = bool(prior) and not prior.get(naming.UNREAD)
    before = with_absent(kind, prior) if was_read else prior
    stable = {
        name: value
        for name, value in before.items()
        if name in kind.properties
        and (not kind.properties[name].traits.volatile or (was_read and name in unchanged))
        and (name not in kind.inputs or (was_read and all(path[0] != name for path in resource.in_place)))
    }
    certain = resource.predict(_placed(resource, inputs, reveal(prior)))
    return stable | predicted_outputs(kind, without_hidden(inputs)) | certain


def _compared(resource: Resource[Any]) -> frozenset[Path]:
    return resource.in_place if resource.compared is None else resource.compared


def outputs_of(
    resource: Resource[Any], state: State, inputs: dict[str, Any], *, is_reached: bool = False, is_finished: bool = True
) -> dict[str, Any]:
    """Return the outputs that go into state: Google's values, in the user's spelling where that means the same.

    An output that the resource lacks is known to be empty, unless the resource has not been read. If
    `is_reached`, a creation or an update has succeeded, so measured properties equal the inputs.
    """
    given = without_hidden(inputs)
    outputs = merged_outputs(resource.type, given, state.properties, resource.comparison(given, state.properties))
    if isinstance(resource, Growing) and not is_finished and not outputs.get(naming.UNREAD):
        outputs[naming.UNFINISHED] = True
    if is_reached:
        outputs |= {name: given[name] for name in resource.type.measured if given.get(name) is not None}
    known = outputs if outputs.get(naming.UNREAD) else with_absent(resource.type, outputs)
    return known | hidden_outputs(state)


def hidden_outputs(state: State) -> dict[str, Any]:
    """Return the hidden outputs with the mark of a resource."""
    return {naming.CREATION: attrs.asdict(state.mark)} if state.mark else {}


def refresh(resource: Resource[Any], state: State, inputs: dict[str, Any], prior: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs after a refresh: the user's properties with Google's values, and drifted ones.

    If the state has lost the inputs, they are written as for an import.
    """
    if not without_hidden(inputs):
        return import_inputs(resource, state) | inputs
    rule, how = resource.autoname, resource.comparison(inputs, state.properties)
    last = UNKNOWN if prior.get(naming.UNREAD) else prior
    fresh = refreshed_inputs(resource.type, inputs, state.properties, last, how, _compared(resource))
    if rule is not None and inputs.get(naming.AUTONAMED):  # an earlier run's generated name is no drift
        fresh[rule.property] = inputs[rule.property]
    return fresh


def import_inputs(resource: Resource[Any], state: State) -> dict[str, Any]:
    """Return the smallest inputs that describe an imported resource: without defaults and implied values.

    Links get the version v1, which users know, because most reads use the beta API, which returns beta links.
    """
    defaults = resource.provider_defaults()
    inputs = minimal_inputs(resource.type, state.properties, None, resource.comparison({}, state.properties))
    inputs = with_links_of("v1", resource.type, inputs)
    kept = {name: value for name, value in inputs.items() if defaults.get(name) != value}
    return {name: value for name, value in kept.items() if name not in resource.left_out_of_imports} | {
        naming.IMPORTED: True
    }
