"""Programs of whole stacks: every resource, in several variants, some of which two stacks cannot both have."""

from __future__ import annotations

from typing import Any, Final

from driver import secret
from hypothesis import strategies as st
from programs import (
    ATTACHMENT,
    BLOB,
    EXPIRY,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    OTHER_BLOB,
    TEMPLATE,
    attachment,
    fleet,
    image,
    key,
    notification,
    properties,
)
from pulumi_stack import Declared, Program
from sample import inputs_with

MARKER: Final = "hunter2marker"
"""The text of every secret."""
_SECRET: Final = secret(MARKER)
_SCHEDULING: Final = {"preemptible": True, "automaticRestart": False, "onHostMaintenance": "TERMINATE"}
_POLICY: Final = {"strategy": "ROLLING", "maxUnavailable": 1}


def _declared(token: str, inputs: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[Declared]:
    return inputs.map(lambda found: Declared(token, found))


def _template(machine: str, metadata: bool, more: dict[str, Any]) -> dict[str, Any]:
    items = {"metadata": {"items": [{"key": "password", "value": _SECRET}]}} if metadata else {}
    return {"properties": properties(machineType=machine, **items), **more}


def _fleet(count: int, machine: str, labels: dict[str, str], more: dict[str, Any]) -> dict[str, Any]:
    return fleet(count, machineType=machine, scheduling=_SCHEDULING, **({"labels": labels} if labels else {}), **more)


_MACHINES: Final = st.sampled_from(["e2-small", "e2-medium"])
_LABELS: Final = st.sampled_from([{}, {"tier": "web"}, {"tier": "db"}])
SLOTS: Final[dict[str, st.SearchStrategy[Declared]]] = {
    "template": _declared(
        TEMPLATE,
        st.builds(
            _template,
            _MACHINES,
            st.booleans(),
            inputs_with({}, {"name": st.just("web"), "region": st.just("us-east1"), "description": st.just("mine")}),
        ),
    ),
    "image": _declared(
        IMAGE,
        inputs_with({}, {"name": st.just("golden"), "labels": _LABELS, "description": st.just(_SECRET)}).map(
            lambda more: image(**more)
        ),
    ),
    "data": _declared(
        ATTACHMENT,
        st.builds(
            lambda disk, has_name, more: {"disk": disk, **({"deviceName": f"my-{disk}"} if has_name else {}), **more},
            st.sampled_from(["example-data", "more-data"]),
            st.booleans(),
            inputs_with({}, {"autoDelete": st.booleans()}),
        ).map(lambda more: attachment(**more)),
    ),
    "notification": _declared(
        NOTIFICATION,
        inputs_with(
            {},
            {
                "eventTypes": st.sampled_from([["OBJECT_FINALIZE"], ["OBJECT_DELETE"]]),
                "customAttributes": st.just({"password": _SECRET}),
            },
        ).map(lambda more: notification(**more)),
    ),
    "key": _declared(
        KEY,
        inputs_with(
            {"key": st.sampled_from([f"ssh-ed25519 {blob} laptop" for blob in (BLOB, OTHER_BLOB)])},
            {"expirationTimeUsec": st.just(EXPIRY)},
        ).map(lambda more: key(**more)),
    ),
    "fleet": _declared(
        FLEET,
        st.builds(
            _fleet,
            st.integers(1, 3),
            _MACHINES,
            _LABELS,
            inputs_with({}, {"fleetId": st.just("crew"), "updatePolicy": st.just(_POLICY), "minCount": st.just(1)}),
        ),
    ),
}
"""What a program may declare under each name. The names are in the order of their registration."""
PROGRAMS: Final[st.SearchStrategy[Program]] = st.fixed_dictionaries({}, optional=SLOTS).map(
    lambda found: edited(found, [])
)
"""The first program of a stack."""
EDITS: Final = st.sampled_from(sorted(SLOTS)).flatmap(
    lambda name: st.tuples(st.just(name), st.none() | SLOTS[name] | SLOTS[name])
)
"""A name, and what is declared under it from then on; None for nothing."""


def edited(program: Program, edits: list[tuple[str, Declared | None]]) -> Program:
    """Return a program after some edits, in the order of the slots."""
    changed = {**program, **dict(edits)}
    return {name: declared for name in SLOTS if (declared := changed.get(name)) is not None}


_MUTATIONS: Final = [
    *(f"compute.{name}.insert" for name in ("instanceTemplates", "regionInstanceTemplates", "machineImages")),
    *(f"compute.{name}.delete" for name in ("instanceTemplates", "machineImages", "instances")),
    *(f"compute.instances.{name}" for name in ("attachDisk", "detachDisk", "setLabels")),
    "compute.regionInstances.bulkInsert",
    "compute.machineImages.setLabels",
    *(f"storage.notifications.{name}" for name in ("insert", "delete")),
    *(f"oslogin.users.sshPublicKeys.{name}" for name in ("create", "delete", "patch")),
]
_STARTS_OPERATION: Final = [name for name in _MUTATIONS if name.startswith("compute.")]
_BROKEN: Final = {"errors": [{"code": "INTERNAL_ERROR", "message": "something broke"}]}
_TIMES: Final = st.sampled_from([1, 3, 60])
_REFUSALS: Final = {"status": st.sampled_from([403, 429, 500, 503])}
_LOSSES: Final = {"drop": st.sampled_from(["before", "after"])}
FAULTS: Final = st.one_of(
    *(
        st.fixed_dictionaries({"method": method, "times": times, **what})
        for what in (_REFUSALS, _LOSSES)
        # An outage of everything is short: after a long one, nothing tells a creation of ours from somebody else's.
        for method, times in ((st.sampled_from(_MUTATIONS), _TIMES), (st.just("*"), st.sampled_from([1, 3])))
    ),
    st.fixed_dictionaries({"method": st.sampled_from(_STARTS_OPERATION), "operation": st.just(_BROKEN)}),
)
"""Faults of the emulator, as arguments of `Emulated.fail`."""
