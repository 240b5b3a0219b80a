"""What a change costs, as the emulator and the clock see it, and the rows in which it is printed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import attrs
import httpx

SUBNETWORK: Final = "regions/us-east1/subnetworks/wide"
"""A subnetwork with room for 65,000 instances, which the default network has not."""


def make_subnetwork(host: str) -> None:
    """Create `SUBNETWORK`, and its network, at the emulator at `host`."""
    wide = {"name": "wide", "network": "global/networks/wide", "ipCidrRange": "10.0.0.0/16"}
    with httpx.Client(base_url=f"http://{host}/compute/v1/projects/p", trust_env=False, timeout=200) as client:
        for path, body in (
            ("global/networks", {"name": "wide", "autoCreateSubnetworks": False}),
            ("regions/us-east1/subnetworks", wide),
        ):
            operation = client.post(path, json=body).raise_for_status().json()
            while operation["status"] != "DONE":
                where = f"/{path.rpartition('/')[0]}/operations/{operation['name']}/wait"
                operation = client.post(where).raise_for_status().json()


_PAGE: Final = 500
"""The templates on a page of Google's lists."""


def pages_and_one(count: int) -> int:
    """Return how many calls read so many templates: the first read, and then pages of the list."""
    return -(-count // _PAGE) + 1


@attrs.frozen
class Cost:
    """What a change costs.

    Attributes:
        seconds: of the clock.
        calls: requests to Google.
        sent, received: the bytes of their bodies, and of those of the responses, without compression.
    """

    seconds: float
    calls: int
    sent: int
    received: int


@attrs.frozen
class Measured:
    """A cost, and its calls by API method, with the bytes."""

    cost: Cost
    methods: dict[str, dict[str, int]]


def measured(host: str, change: Callable[[], Any]) -> Measured:
    """Make a change, and count what reaches the emulator at `host`."""
    with httpx.Client(base_url=f"http://{host}/_emulator", trust_env=False, timeout=60) as client:
        client.delete("/requests")
        began = time.perf_counter()
        change()
        seconds = time.perf_counter() - began
        methods = client.get("/traffic").json()
    totals = (sum(total[name] for total in methods.values()) for name in ("calls", "sent", "received"))
    return Measured(Cost(seconds, *totals), methods)


@attrs.frozen
class Row:
    """A figure beside another one, with the goal of their ratio.

    Attributes:
        ours, other: what is compared, and `beside`, whose the other one is.
        goal: the ratio that is wanted, at most, or at least if `least`; None for a row that has no goal.
    """

    name: str
    ours: float
    other: float
    unit: str
    beside: str
    goal: float | None = None
    least: bool = False

    @property
    def ratio(self) -> float:
        """How many times as large as the other one ours is."""
        return self.ours / self.other if self.other else float("inf")

    @property
    def is_met(self) -> bool:
        """Whether the goal is reached, if there is one."""
        return self.goal is None or (self.ratio >= self.goal if self.least else self.ratio <= self.goal)

    def as_json(self) -> dict[str, Any]:
        """Return the row with its ratio and its verdict."""
        return {**attrs.asdict(self), "ratio": self.ratio, "met": self.is_met}

    def __str__(self) -> str:
        """Format the row with its verdict."""
        values = (
            f"{self.ours:10,.1f} {self.unit:<5} {self.other:10,.1f} {self.unit:<5} {self.beside:<22}{self.ratio:7.2f}x"
        )
        if self.goal is None:
            return f"{self.name:<44}{values}"
        limit = f"{'at least' if self.least else 'at most'} {self.goal:.2f}x"
        return f"{self.name:<44}{values}   {limit:<16}{'met' if self.is_met else 'MISSED'}"
