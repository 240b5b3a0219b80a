"""Programs of one rolling fleet, and strategies for what changes in them and what goes wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import attrs
from hypothesis import strategies as st
from programs import DEBIAN, fleet

FLEET_ID: Final = "crew"
NAMES: Final = ("alpha", "beta", "gamma", "delta", "epsilon")
"""The names of the members of a named fleet; a smaller one has the first of them."""
_SCHEDULING: Final = {"preemptible": True, "automaticRestart": False, "onHostMaintenance": "TERMINATE"}


@attrs.frozen
class Program:
    """What a program says about the fleet, and what that promises.

    Attributes:
        named: whether it names each member.
        shape: the target shape of its location policy.
        policy: its update policy, without the strategy.
        machine: the machine type.
        disk: the size of the boot disks in GB.
        metadata: the value of the only metadata key; empty for none.
        action: what is done to all members for a trigger, and the trigger; None for no action.
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

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs of the resource."""
        boot = {"boot": True, "initializeParams": {"diskSizeGb": self.disk, "sourceImage": DEBIAN}}
        made = fleet(
            self.count,
            fleetId=FLEET_ID,
            updatePolicy={"strategy": "ROLLING", **self.policy},
            onStopped=self.on_stopped,
            locationPolicy={"targetShape": self.shape},
            machineType=self.machine,
            disks=[boot],
            scheduling=_SCHEDULING,
            **self._optional_inputs(),
        )
        if self.named:
            del made["namePattern"]
            made["perInstanceProperties"] = {name: {} for name in NAMES[: self.count or 1]}
        return made

    def _optional_inputs(self) -> dict[str, Any]:
        return {
            **({"labels": self.labels} if self.labels else {}),
            **({"metadata": {"items": [{"key": "a", "value": self.metadata}]}} if self.metadata else {}),
            **({"minCount": self.minimum} if self.minimum < self.count else {}),
            **({"rollingAction": {"action": self.action[0], "trigger": self.action[1]}} if self.action else {}),
        }

    @property
    def keeps_stopped(self) -> bool:
        """Whether stopped members stay as they are."""
        return self.on_stopped == "KEEP"

    @property
    def surge(self) -> int:
        """How many members more than `count` may exist."""
        return self._share("maxSurge", math.ceil) or 0

    @property
    def unavailable(self) -> int:
        """How many members may not run."""
        least, number = 0 if self.surge else 1, self._share("maxUnavailable", math.floor)
        return least if number is None else max(least, number)

    @property
    def updated(self) -> int:
        """How many members have the properties of the program at the end, at least."""
        pause = self._share("pauseAfter", math.ceil)
        return self.count if pause is None else min(self.count, pause)

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
    _some("pauseAfter", 1, 2, "50%"),
    _some("minimalAction", "RESTART", "REPLACE"),
    _some("onFailure", "ROLL_BACK"),
)
ON_STOPPED: Final = st.sampled_from(["START", "REPLACE", "KEEP"])
FIRST: Final = st.builds(
    Program,
    count=st.integers(1, 4),
    named=st.booleans(),
    shape=st.sampled_from(["ANY_SINGLE_ZONE", "BALANCED"]),
    policy=POLICIES,
    on_stopped=ON_STOPPED,
)
"""The first program of a fleet."""
CHANGES: Final = st.fixed_dictionaries(
    {},
    optional={
        "count": st.integers(0, 5),
        "policy": POLICIES,
        "machine": st.sampled_from(["e2-small", "e2-medium"]),
        "disk": st.sampled_from([10, 20]),
        "labels": st.sampled_from([{}, {"tier": "web"}, {"tier": "db", "team": "a"}]),
        "metadata": st.sampled_from(["", "1", "2"]),
        "on_stopped": ON_STOPPED,
        "minimum": st.integers(1, 5),
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
    *("add label", "change label", "remove generation", "change generation"),
)
"""What others do to a member."""
INTERRUPTIONS: Final = st.tuples(
    st.sampled_from(["crash", "crash after", "cancel", "preempt", "suspend", "delete"]), st.integers(1, 30)
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
