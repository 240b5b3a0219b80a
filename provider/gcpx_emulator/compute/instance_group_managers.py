"""Managers of instance groups in a zone, which create the group's instances from a template.

A manager acts when it is called. It does not repair its instances: those that had no room, or that somebody has
deleted, are created by its next change.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from typing import Final

import attrs

from gcpx_emulator.compute.addresses import AddressPool, conflict_of
from gcpx_emulator.compute.bulk_insert import place
from gcpx_emulator.compute.call import NAME, Call, check_free, check_ready, handles, last_part, path_of
from gcpx_emulator.compute.capacity import Hardware
from gcpx_emulator.compute.collection import Collection, given
from gcpx_emulator.compute.constraints import MOST_MANAGED
from gcpx_emulator.compute.fingerprints import fingerprint
from gcpx_emulator.compute.instance_groups import MANAGER, NAMES, members_of, new_group
from gcpx_emulator.compute.instance_lifecycle import RUNNING, STOPPING, effects_on_disks, in_creation
from gcpx_emulator.compute.instance_templates import linked_template_properties
from gcpx_emulator.compute.instances import check_disks, common_fields, new_instance
from gcpx_emulator.compute.locations import ZONAL
from gcpx_emulator.compute.machine_references import check_machine
from gcpx_emulator.compute.machine_types import check_in_zone
from gcpx_emulator.compute.networks import all_connected
from gcpx_emulator.compute.placement import check_policies, check_reservation
from gcpx_emulator.compute.work import Work
from gcpx_emulator.core.clock import pacific_timestamp
from gcpx_emulator.core.errors import ApiError, already_exists, check_given, invalid, required, stale
from gcpx_emulator.core.json_data import Json, merge
from gcpx_emulator.core.listing import in_order, page_of
from gcpx_emulator.core.operations import Effect, apply, change, delete, put
from gcpx_emulator.core.projects import project_number

_EMULATED: Final = frozenset(
    {"baseInstanceName", "description", "fingerprint", "instanceTemplate", "listManagedInstancesResults", "name",
     "namedPorts", "targetSize", "updatePolicy", "versions"}
)  # fmt: skip
"""The fields of a new manager that have an effect here; `fingerprint` is ignored by Google, too."""
_PATCHED: Final = _EMULATED - {"fingerprint", "name", "namedPorts"}
_ACTIONS: Final = "_actions"
"""The field of a stored manager with what it is doing to its instances, by name, while its operation runs."""
_ERRORS: Final = "_errors"
"""The field of a stored manager with the errors of the instances that it could not create, by name."""
_TEMPLATE: Final = "_template"
"""The field of a stored instance with the URL of the template that its manager has created it from."""
_CREATING, _RECREATING, _DELETING, _NONE = "CREATING", "RECREATING", "DELETING", "NONE"
_COUNTED: Final = ("abandoning", "creating", "creatingWithoutRetries", "deleting", "none", "recreating", "refreshing",
                   "restarting", "resuming", "starting", "stopping", "suspending", "verifying")  # fmt: skip
_TARGET: Final = "targetSize"


def _create(call: Call, path: str, head: Json) -> Json:
    body = given(call)
    _check_emulated(call, body)
    if _TARGET not in body:
        raise required(f"resource.{_TARGET}")
    template, field = _given_template(body)
    if not template:
        raise required("resource.instanceTemplate")
    group = f"{call.parent}/instanceGroups/{body['name']}"
    check_free(call, group)
    base = body.get("baseInstanceName") or body["name"]
    manager = {
        "description": "",
        "listManagedInstancesResults": "PAGELESS",
        **{name: value for name, value in body.items() if name != "namedPorts"},
        **head,
        "baseInstanceName": base,
        "instanceGroup": call.url(group),
        NAMES: _new_names(call, base, [], int(body[_TARGET])),
        **_of_template(call, template, body.get("versions")),
    }
    made = _made(call, path, manager, manager[NAMES], field)
    stored = manager | {_ERRORS: made.errors, "fingerprint": fingerprint(manager)}
    effects = [put(path, stored), put(group, {**new_group(call, group, body), MANAGER: path}), *made.effects]
    whole = Work(kind=call.method.id, target=path, target_id=head["id"], effects=effects)
    return call.start(whole, made.works)


def _check_emulated(call: Call, body: Json) -> None:
    """Refuse fields that would have no effect."""
    policy = body.get("updatePolicy") or {}
    others = {name for name, value in body.items() if name not in _EMULATED and value not in (None, [], {}, 0)}
    others |= {"updatePolicy.type"} if policy.get("type", "OPPORTUNISTIC") != "OPPORTUNISTIC" else set()
    others |= {"versions"} if len(body.get("versions") or ()) > 1 else set()
    others |= {"baseInstanceName"} if "#" in body.get("baseInstanceName", "") else set()
    if others:
        raise ApiError(501, f"{call.method.id} with {min(others)} is not emulated")


def _given_template(body: Json) -> tuple[str, str]:
    """Return the template in a request, and the field that has it."""
    for version in body.get("versions") or ():
        if version.get("instanceTemplate"):
            return str(version["instanceTemplate"]), "resource.versions[0].instanceTemplate"
    return str(body.get("instanceTemplate") or ""), "resource.instanceTemplate"


def _of_template(call: Call, link: str, versions: list[Json] | None = None) -> Json:
    """Return the fields of a manager with its template."""
    template = call.url(call.resolve(link))
    (version,) = versions or [{}]
    return {"instanceTemplate": template, "versions": [version | {"instanceTemplate": template}]}


def _new_names(call: Call, base: str, used: Iterable[str], number: int) -> list[str]:
    """Return new names of instances: the base, a hyphen, and four random characters."""
    found: list[str] = []
    taken = set(used)
    while len(found) < number:
        name = f"{base}-{secrets.token_hex(2)}"
        if name not in taken and call.store.get(f"{call.parent}/instances/{name}") is None:
            taken.add(name)
            found.append(name)
    return found


@attrs.frozen
class _Made:
    """What the creation of instances brings about.

    Attributes:
        works: the insertion of each instance.
        effects: the effects of all of them.
        errors: the errors of the instances that cannot be created, by name.
    """

    works: list[Work] = attrs.Factory(list)
    effects: list[Effect] = attrs.Factory(list)
    errors: Json = attrs.Factory(dict)


def _made(call: Call, path: str, manager: Json, names: list[str], field: str = "instanceTemplate") -> _Made:
    """Begin to create the instances of the manager at a path that have these names.

    Some may have no room, or somebody else's instance has the name.
    """
    properties = linked_template_properties(call, field, manager["instanceTemplate"])
    check_in_zone(call, properties["machineType"])
    taken = [name for name in names if call.store.get(f"{call.parent}/instances/{name}") is not None]
    names = [name for name in names if name not in taken]
    errors = [
        {"code": "RESOURCE_ALREADY_EXISTS", "message": f"The resource '{call.parent}/instances/{name}' already exists"}
        for name in taken
    ]
    missing = _failures(call, taken, errors)
    if call.failure is not None or not names:
        return _Made(errors=missing)
    check_disks(properties)
    check_machine(call, properties)
    check_policies(call, "resource", properties, len(names))
    check_reservation(call, "resource", properties)
    interfaces = all_connected(call, "resource.networkInterfaces", properties.get("networkInterfaces") or [{}])
    properties |= {"networkInterfaces": interfaces, "metadata": _metadata(call, path, manager, properties)}
    pool, hardware = AddressPool(call, len(names)), Hardware.of(properties)
    conflict = conflict_of(call, "resource.networkInterfaces", interfaces, len(names))
    placement = place(attrs.evolve(call, failure=conflict), [hardware], len(names), pool.space(interfaces))
    (errors,), (placed,) = placement.errors.values(), placement.placed.values()
    common = common_fields(call, properties) | {_TEMPLATE: manager["instanceTemplate"], MANAGER: path}
    works, effects = [], []
    for name in names[: len(placed)]:
        member = f"{call.parent}/instances/{name}"
        instance, on_disks = new_instance(call, member, properties, common, pool)
        works.append(Work(kind="insert", target=member, target_id=instance["id"]))
        effects += [put(member, instance), *on_disks]
        call.store.put(member, in_creation(call, instance))
    return _Made(works, effects, missing | _failures(call, names[len(placed) :], errors))


def _failures(call: Call, names: list[str], errors: list[Json]) -> Json:
    """Return the errors of the instances with these names as a manager stores them."""
    moment = pacific_timestamp(call.now)
    return {name: {"error": error, "timestamp": moment} for name, error in zip(names, errors, strict=True)}


def _metadata(call: Call, path: str, manager: Json, properties: Json) -> Json:
    """Return the metadata of new instances, which name the template and the manager at a path."""
    number, project = project_number(call.path["project"]), call.path["project"]
    own = {"instance-template": path_of(manager["instanceTemplate"], project), "created-by": path}
    items = [{"key": key, "value": f"projects/{number}/{value.split('/', 2)[2]}"} for key, value in own.items()]
    others = (properties.get("metadata") or {}).get("items") or ()
    return {"items": [*(item for item in others if item["key"] not in own), *items]}


def _instances(call: Call, manager: Json) -> dict[str, Json | None]:
    """Return the instances of a manager by name; None for one that does not exist."""
    members = members_of(call, path_of(manager["selfLink"], ""), manager)
    return {last_part(path): instance for path, instance in members.items()}


def _action(manager: Json, name: str, instance: Json | None) -> str:
    """Return what a manager does with one of its instances."""
    return str((manager.get(_ACTIONS) or {}).get(name) or (_CREATING if instance is None else _NONE))


def _with_status(call: Call) -> Callable[[Json], Json]:
    """Return what adds to a manager what it does with its instances, and the named ports of its group."""

    def complete(manager: Json) -> Json:
        group = call.store.get(path_of(manager["instanceGroup"], "")) or {}
        ports = {"namedPorts": group["namedPorts"]} if group.get("namedPorts") else {}
        actions = [_action(manager, name, one) for name, one in _instances(call, manager).items()]
        counts = {name: sum(action.lower() == name.lower() for action in actions) for name in _COUNTED}
        reached = all(
            instance is None or instance[_TEMPLATE] == manager["instanceTemplate"]
            for instance in _instances(call, manager).values()
        )
        status = {"isStable": set(actions) <= {_NONE}, "versionTarget": {"isReached": reached}}
        return manager | ports | {"currentActions": counts, "status": status}

    return complete


_MANAGERS: Final = Collection(
    name="instanceGroupManagers", singular="instanceGroupManager", create=_create, scopes=ZONAL, complete=_with_status
)
_MANAGERS.register("aggregatedList", "get", "insert", "list")


def _found(call: Call) -> tuple[str, Json]:
    """Return the path of the manager that a call changes, and the manager; no operation may be changing it."""
    path, manager = _MANAGERS.find(call)
    check_ready(call, path)
    return path, manager


@attrs.frozen(kw_only=True)
class _Change:
    """A change of the instances of a manager.

    Attributes:
        fields: the fields that the manager gets at once.
        created: the names of instances that are created.
        recreated: the names of instances that are deleted and created again.
        deleted: the names of instances that are deleted.
    """

    fields: Json = attrs.Factory(dict)
    created: list[str] = attrs.Factory(list)
    recreated: list[str] = attrs.Factory(list)
    deleted: list[str] = attrs.Factory(list)


def _start(call: Call, path: str, manager: Json, what: _Change) -> Json:
    """Start the operation of a change; also create again what is missing."""
    whole = Work(kind=call.method.id, target=path, target_id=manager["id"])
    if call.failure is not None:
        return call.start(whole)
    missing = [name for name, one in _instances(call, manager).items() if one is None and name not in what.deleted]
    replaced = [name for name in what.recreated if name not in missing]
    created = [*missing, *replaced, *what.created]
    works, effects = _deletions(call, manager, what.deleted)
    _, removals = _deletions(call, manager, replaced)
    with call.store.transaction():
        for effect in removals:  # the new instances have the names of these instances and disks
            apply(effect, call.store)
        fields = what.fields | {"fingerprint": fingerprint({**manager, **what.fields, "fingerprint": ""})}
        changed = manager | fields
        made = _made(call, path, changed, created)
        actions = dict.fromkeys(created, _CREATING) | dict.fromkeys(replaced, _RECREATING)
        names = [*manager[NAMES], *what.created]
        call.store.put(path, changed | {NAMES: names, _ACTIONS: actions | dict.fromkeys(what.deleted, _DELETING)})
        for work in works:
            apply(change(work.target, {"status": STOPPING}), call.store)
    left = {NAMES: [name for name in names if name not in what.deleted], _ACTIONS: None, _ERRORS: made.errors}
    effects = [change(path, fields | left), *effects, *made.effects]
    return call.start(attrs.evolve(whole, effects=effects), [*works, *made.works])


def _deletions(call: Call, manager: Json, names: list[str]) -> tuple[list[Work], list[Effect]]:
    """Return the deletions of a manager's instances with these names that exist, and their effects."""
    works, effects = [], []
    for name, instance in _instances(call, manager).items():
        if instance is None or name not in names:
            continue
        member = f"{call.parent}/instances/{name}"
        check_ready(call, member)
        works.append(Work(kind="delete", target=member, target_id=instance["id"]))
        effects += [delete(member), *effects_on_disks(call.store, member, instance)]
    return works, effects


@handles("compute.instanceGroupManagers.delete")
def delete_manager(call: Call) -> Json:
    """Delete a manager with its group and its instances."""
    path, manager = _found(call)
    works, effects = _deletions(call, manager, manager[NAMES])
    if call.failure is None:
        for work in works:
            apply(change(work.target, {"status": STOPPING}), call.store)
    effects += [delete(path), delete(path_of(manager["instanceGroup"], ""))]
    return call.start(Work(kind=call.method.id, target=path, target_id=manager["id"], effects=effects), works)


@handles("compute.instanceGroupManagers.resize")
def resize(call: Call) -> Json:
    """Create or delete instances until there are as many as the call says."""
    path, manager = _found(call)
    size = int(call.query["size"])
    if not 0 <= size <= MOST_MANAGED:
        raise invalid("size", size, f"Must be between 0 and {MOST_MANAGED}.")
    return _resized(call, path, manager, {_TARGET: size})


def _resized(call: Call, path: str, manager: Json, fields: Json) -> Json:
    """Set fields of a manager, and give it as many instances as its target says.

    Those that do not exist or do not run are deleted first, then the newest.
    """
    names, size = manager[NAMES], int((manager | fields)[_TARGET])
    base = (manager | fields)["baseInstanceName"]
    new = _new_names(call, base, names, max(0, size - len(names)))
    instances = _instances(call, manager)
    oldest = sorted(names, key=lambda name: (instances[name] or {}).get("status") != RUNNING)
    return _start(call, path, manager, _Change(fields=fields, created=new, deleted=oldest[size:]))


@handles("compute.instanceGroupManagers.patch")
def patch_manager(call: Call) -> Json:
    """Change a manager; omitted fields stay. Another template is for instances that are created from now on."""
    path, manager = _found(call)
    merged = merge(manager, given(call))
    body = {name: merged.get(name) for name in given(call) if merged.get(name) != manager.get(name)}
    _check_emulated(call, body)
    if "fingerprint" in body:
        raise stale("instance group manager")
    for name in body.keys() - _PATCHED:
        raise ApiError(501, f"{call.method.id} of {name} is not emulated")
    if body.keys() & {"instanceTemplate", "versions"}:
        template, field = _given_template({"instanceTemplate": manager["instanceTemplate"], **body})
        check_in_zone(call, linked_template_properties(call, field, template)["machineType"])
        body |= _of_template(call, template, body.get("versions"))
    return _resized(call, path, manager, body)


@handles("compute.instanceGroupManagers.createInstances")
def create_instances(call: Call) -> Json:
    """Create instances with the names in the request."""
    path, manager = _found(call)
    check_given(call.body, "instances")
    names: list[str] = []
    for index, config in enumerate(call.body["instances"]):
        for field in config.keys() - {"fingerprint", "name", "status"}:
            raise ApiError(501, f"{call.method.id} with instances[].{field} is not emulated")
        name = config.get("name", "")
        if not NAME.fullmatch(name):
            raise invalid(f"instances[{index}].name", name, f"Must be a match of regex '(?:{NAME.pattern})'")
        member = f"{call.parent}/instances/{name}"
        if name in (*manager[NAMES], *names) or call.store.get(member) is not None:
            raise already_exists(member)
        names.append(name)
    fields = {_TARGET: manager[_TARGET] + len(names)}
    if fields[_TARGET] > MOST_MANAGED:
        raise invalid("instances", len(names), f"A group can have {MOST_MANAGED} instances.")
    return _start(call, path, manager, _Change(fields=fields, created=names))


def _named(call: Call, manager: Json) -> list[str]:
    """Return the names of the manager's instances that the request names or links to."""
    check_given(call.body, "instances")
    names = []
    for index, link in enumerate(call.body["instances"]):
        path = call.resolve(link if "/" in link else f"{call.scope}/instances/{link}")
        if path.rpartition("/instances/")[0] != call.parent:
            raise invalid(f"instances[{index}]", link, "The instance must be in the zone of the group.")
        if last_part(path) in manager[NAMES]:
            names.append(last_part(path))
        elif not call.body.get("skipInstancesOnValidationError"):
            raise invalid(f"instances[{index}]", link, f"It is not an instance of the group '{manager['name']}'.")
    return list(dict.fromkeys(names))


@handles("compute.instanceGroupManagers.deleteInstances")
def delete_instances(call: Call) -> Json:
    """Delete instances, and make the group smaller by their number."""
    path, manager = _found(call)
    names = _named(call, manager)
    return _start(call, path, manager, _Change(fields={_TARGET: manager[_TARGET] - len(names)}, deleted=names))


@handles("compute.instanceGroupManagers.recreateInstances")
def recreate_instances(call: Call) -> Json:
    """Delete instances, and create them again with the same names from the current template."""
    path, manager = _found(call)
    return _start(call, path, manager, _Change(recreated=_named(call, manager)))


@handles("compute.instanceGroupManagers.abandonInstances")
def abandon_instances(call: Call) -> Json:
    """Remove instances from the group, and keep them."""
    path, manager = _found(call)
    names = _named(call, manager)
    left = [name for name in manager[NAMES] if name not in names]
    errors = {name: error for name, error in manager[_ERRORS].items() if name in left}
    fields = {_TARGET: manager[_TARGET] - len(names), NAMES: left, _ERRORS: errors}
    work = Work(kind=call.method.id, target=path, target_id=manager["id"], effects=[change(path, fields)])
    return call.start(work)


@handles("compute.instanceGroupManagers.setInstanceTemplate")
def set_template(call: Call) -> Json:
    """Use another template for instances that are created from now on."""
    path, manager = _found(call)
    link = call.body.get("instanceTemplate")
    if not link:
        raise required("instanceTemplate")
    check_in_zone(call, linked_template_properties(call, "instanceTemplate", link)["machineType"])
    return _start(call, path, manager, _Change(fields=_of_template(call, link)))


@handles("compute.instanceGroupManagers.listManagedInstances")
def list_managed_instances(call: Call) -> Json:
    """List the instances of a group, also those that do not exist yet."""
    _, manager = _MANAGERS.find(call)
    items = {name: _managed(call, manager, name, one) for name, one in _instances(call, manager).items()}
    pages = manager["listManagedInstancesResults"] == "PAGINATED"
    query = (
        call.query if pages else {name: call.query[name] for name in call.query.keys() - {"maxResults", "pageToken"}}
    )
    rows, token = page_of(in_order(items), query)
    found = {"managedInstances": [item for _, item in rows]} if rows else {}
    return found | ({"nextPageToken": token} if token else {})


def _managed(call: Call, manager: Json, name: str, instance: Json | None) -> Json:
    link = call.url(f"{path_of(manager['zone'], '')}/instances/{name}")
    template = (instance or {}).get(_TEMPLATE) or manager["instanceTemplate"]
    own = {"id": instance["id"], "instanceStatus": instance["status"]} if instance else {}
    failure = (manager.get(_ERRORS) or {}).get(name)
    attempt = {"lastAttempt": {"errors": {"errors": [failure["error"]]}}} if failure and not instance else {}
    action, version = _action(manager, name, instance), {"instanceTemplate": call.full_url(template)}
    return {"name": name, "instance": link, "currentAction": action, "version": version, **own, **attempt}


@handles("compute.instanceGroupManagers.listErrors")
def list_errors(call: Call) -> Json:
    """List the errors of the instances that could not be created."""
    _, manager = _MANAGERS.find(call)
    items = {}
    for name, failure in (manager.get(_ERRORS) or {}).items():
        one = _managed(call, manager, name, None)
        details = {"action": _CREATING, "instance": one["instance"], "version": one["version"]}
        error = {key: failure["error"][key] for key in ("code", "message")}
        items[name] = {"error": error, "instanceActionDetails": details, "timestamp": failure["timestamp"]}
    rows, token = page_of(in_order(items), call.query)
    return ({"items": [item for _, item in rows]} if rows else {}) | ({"nextPageToken": token} if token else {})
