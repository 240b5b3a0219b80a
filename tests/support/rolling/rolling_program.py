"""Programs of one rolling fleet, and strategies for what changes in them and what goes wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import attrs
from hypothesis import strategies as st
from values.programs import DEBIAN, fleet

from gcpx.model.fields import chosen, without

FLEET_ID: Final = "crew"
ROLE: Final = {"role": "crew"}
"""The label of all members, which may be the fleet's ID, and which instances of others have, too."""
READY: Final = ("app/state", "ready")
"""What a member reports when it is ready."""
NAMES: Final = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
"""The names of the members of a named fleet; a smaller one has the first of them."""
FALLBACKS: Final[dict[str, dict[str, Any]]] = {
    "elsewhere": {"zones": ["us-east1-c", "us-east1-d"]},
    "larger": {"zones": ["us-east1-d"], "machineType": "e2-standard-2"},
}
"""What may be tried if a zone has no room, by name."""
_SCHEDULING: Final = {"preemptible": True, "automaticRestart": False, "onHostMaintenance": "TERMINATE"}


@attrs.frozen
class Program:
    """What a program says about the fleet, and what that promises.

    Attributes:
        named: whether it names each member.
        shape: the target shape of its location policy.
        policy: its update policy, and `maxDeleted`.
        machine: the machine type.
        disk: the size of the boot disks in GB.
        metadata: the value of the only metadata key; empty for none.
        action: what is done to all members for a trigger, and the trigger; None for no action.
        asks: whether members are ready only when they report it.
        fallbacks: what is tried if a zone has no room.
    """

    count: int
    named: bool
    shape: str
    policy: dict[str, Any] = attrs.Factory(dict)
    on_stopped: str = "START"
    machine: str = "e2-small"
    disk: int = 10
    labels: dict[str, str] = attrs.Factory(dict)
    metadata: str = ""
    minimum: int = 1
    action: tuple[str, str] | None = None
    asks: bool = False
    fallbacks: tuple[str, ...] = ()

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs of the resource."""
        boot = {"boot": True, "initializeParams": {"diskSizeGb": self.disk, "sourceImage": DEBIAN}}
        made = fleet(
            self.count,
            fleetId=FLEET_ID,
            updatePolicy={**without(self.policy, ["maxDeleted"]), **self._readiness()},
            onStopped=self.on_stopped,
            locationPolicy={"targetShape": self.shape},
            machineType=self.machine,
            disks=[boot],
            scheduling=_SCHEDULING,
            labels={**ROLE, **self.labels},
            **self._optional_inputs(),
        )
        if self.named:
            del made["namePattern"]
            made["perInstanceProperties"] = {name: {} for name in NAMES[: self.count or 1]}
        return made

    def _optional_inputs(self) -> dict[str, Any]:
        return {
            **({"metadata": {"items": [{"key": "a", "value": self.metadata}]}} if self.metadata else {}),
            **chosen(self.policy, ["maxDeleted"]),
            **({"minCount": self.minimum} if self.minimum < self.count else {}),
            **({"rollingAction": {"action": self.action[0], "trigger": self.action[1]}} if self.action else {}),
            **({"fallbacks": [FALLBACKS[name] for name in self.fallbacks]} if self.fallbacks else {}),
        }

    def _readiness(self) -> dict[str, Any]:
        return {"ready": {"guestAttribute": "=".join(READY), "within": 1}} if self.asks else {}

    def rolled(self, name: str) -> Program:
        """Return the program with the other value of a property of `ROLLED`."""
        one, other = ROLLED[name]
        return attrs.evolve(self, **{name: one if getattr(self, name) == other else other})

    @property
    def keeps_stopped(self) -> bool:
        """Whether stopped members stay as they are."""
        return self.on_stopped == "KEEP"

    @property
    def surge(self) -> int:
        """How many members more than `count` may exist."""
        is_free = not self.named and not self.policy.get("keepNames")
        if is_free and not self.policy.keys() & {"maxSurge", "maxUnavailable"}:
            return 1  # a tenth of the members, but at least one
        return self._share("maxSurge", math.ceil) or 0

    @property
    def unavailable(self) -> int:
        """How many members may not run."""
        number = self._share("maxUnavailable", math.floor)
        if number is None:
            return 0 if "maxSurge" in self.policy else 1
        return max(0 if self.surge else 1, number)

    @property
    def updated(self) -> int:
        """How many members have the properties of the program at the end, at least."""
        pause = self._share("pauseAfter", math.ceil)
        return self.count if pause is None else min(self.count, pause)

    def most_deleted(self, existing: int) -> int:
        """Return how many of the members that exist one run may delete."""
        given = self.policy.get("maxDeleted", existing)
        return int(given[:-1]) * existing // 100 if isinstance(given, str) else int(given)

    def most(self, existing: int) -> int:
        """Return how many members may exist during a run that begins with some, to which a rollback returns."""
        return max(self.count, existing if "onFailure" in self.policy else 0) + self.surge

    def least(self, stopped: int) -> int:
        """Return how many members have to run if some are stopped, which may be on purpose."""
        return self.count - (stopped if self.keeps_stopped else 0) - self.unavailable

    def _share(self, name: str, rounded: Callable[[float], int]) -> int | None:
        value = self.policy.get(name)
        return rounded(int(value[:-1]) * self.count / 100) if isinstance(value, str) else value


def _some(name: str, *values: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for a map with one of the values, or none."""
    return st.sampled_from([{}, *({name: value} for value in values)])


def _merged(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*parts).map(lambda found: {key: value for part in found for key, value in part.items()})


POLICIES: Final = _merged(
    st.one_of(
        _merged(_some("maxUnavailable", 2, "50%"), _some("keepNames", True)),
        _merged(_some("maxUnavailable", 0, 1, 2), _some("maxSurge", 1, 2, "50%")),
    ),
    st.just({}) | _some("pauseAfter", 1, 2, "50%"),
    _some("minimalAction", "RESTART", "REPLACE"),
    _some("onFailure", "ROLL_BACK"),
    _some("maxDeleted", 2, "50%"),
)
ON_STOPPED: Final = st.sampled_from(["START", "REPLACE", "KEEP"])
FIRST: Final = st.builds(
    Program,
    count=st.integers(2, 5),
    named=st.sampled_from([False, False, True]),
    shape=st.sampled_from(["ANY_SINGLE_ZONE", "BALANCED"]),
    policy=POLICIES,
    on_stopped=ON_STOPPED,
    asks=st.booleans(),
)
"""The first program of a fleet."""
CHANGES: Final = st.fixed_dictionaries(
    {},
    optional={
        "count": st.integers(0, 5),
        "policy": POLICIES,
        "machine": st.sampled_from(["e2-small", "e2-medium", "c3-standard-4", "c3-standard-4-lssd"]),
        "disk": st.sampled_from([10, 20]),
        "labels": st.sampled_from([{}, {"tier": "web"}, {"tier": "db", "team": "a"}]),
        "metadata": st.sampled_from(["", "1", "2"]),
        "on_stopped": ON_STOPPED,
        "minimum": st.integers(1, 5),
        "fallbacks": st.sampled_from([(), ("elsewhere",), ("larger",), ("larger", "elsewhere")]),
        "action": st.none() | st.tuples(st.sampled_from(["RESTART", "REPLACE"]), st.sampled_from(["a", "b"])),
    },
)
"""Changes of a program."""
ROLLED: Final[dict[str, tuple[Any, Any]]] = {
    "machine": ("e2-small", "e2-medium"),
    "disk": (10, 20),
    "labels": ({}, {"tier": "web"}),
    "metadata": ("", "1"),
}
"""Two values each of properties whose change reaches every member."""
INTERFERENCES: Final = (
    *("preempt", "shut down", "suspend", "delete"),
    *("add label", "change label", "remove generation", "change generation", "garble generation"),
    *("resize", "break"),
)
"""What others do to a member."""
INTERRUPTIONS: Final = st.tuples(
    st.sampled_from(["crash", "crash after", "cancel", "preempt", "suspend", "delete", "break"]), st.integers(1, 30)
)
"""What happens in the middle of a run, and at which request."""
_MUTATIONS: Final = [
    "compute.regionInstances.bulkInsert",
    *(
        f"compute.instances.{name}"
        for name in ("delete", "stop", "start", "setLabels", "setMetadata", "setMachineType")
    ),
]
_READS: Final = [
    *("compute.instances.list", "compute.instances.aggregatedList", "compute.regionOperations.wait"),
    *("compute.zoneOperations.get", "compute.zoneOperations.list"),
]
_BROKEN: Final = {"errors": [{"code": "INTERNAL_ERROR", "message": "something broke"}]}
_TIMES: Final = st.sampled_from([1, 3, 30])
FAULTS: Final = st.one_of(
    st.fixed_dictionaries({"method": st.sampled_from(_MUTATIONS), "operation": st.just(_BROKEN)}),
    st.fixed_dictionaries({"method": st.sampled_from(_MUTATIONS), "status": st.sampled_from([400, 403, 412])}),
    st.fixed_dictionaries(
        {
            "method": st.sampled_from([*_MUTATIONS, *_READS]),
            "status": st.sampled_from([403, 429, 500, 503]),
            "times": _TIMES,
        }
    ),
    st.fixed_dictionaries(
        {
            "method": st.sampled_from([*_MUTATIONS, *_READS, "*"]),
            "drop": st.sampled_from(["before", "after"]),
            "times": _TIMES,
        }
    ),
)
"""Faults of the emulator, as arguments of `Emulated.fail`."""
