"""An emulator in the test's own process, whose state tests can prepare and inspect directly."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs
from engines.clock import HANGS, HOUR, FakeClock
from faults.interception import Interceptor
from servers import plain_http
from servers.direct_connection import Served, serve_directly, serve_no_longer
from values.programs import BUCKET, PROJECT, TOPICS, ZONE

from gcpx_emulator.app import application
from gcpx_emulator.compute.interruptions import SystemEvent, record_deletion, record_event
from gcpx_emulator.core.clock import Clock
from gcpx_emulator.core.faults import Fault
from gcpx_emulator.core.projects import project_number
from gcpx_emulator.emulator import Emulator
from gcpx_emulator.grpc_apis.connections import Grpc
from gcpx_emulator.server import listen
from gcpx_emulator.storage.buckets import NEW as NEW_BUCKET
from gcpx_emulator.testing.background import serving

_DETACHMENT = SystemEvent("detachDisk")


@attrs.frozen
class Emulated:
    """A running emulator in this process.

    Attributes:
        clock: the clock of operations and rates.
        interceptor: sees requests before they reach the emulator, and can interfere with them.
    """

    host: str
    emulator: Emulator
    clock: FakeClock
    interceptor: Interceptor

    def hold_operations(self) -> None:
        """Make operations take an hour on the emulator's clock, which a test advances."""
        self.emulator.operations.latency = HOUR
        self.emulator.operations.has_quick = False
        self.clock.hold()

    def finish_operations(self) -> None:
        """Advance the clock by that hour; later operations finish at once."""
        self.emulator.operations.latency = 0.0
        self.emulator.operations.has_quick = True
        self.clock.release()
        self.clock.advance(HOUR)

    @contextmanager
    def held_operations(self) -> Iterator[None]:
        """Hold operations during the block.

        Enter it inside the `with` of whatever waits for the operations, so that a failing test does not hang.
        """
        self.hold_operations()
        try:
            yield
        finally:
            self.finish_operations()

    @contextmanager
    def held_creations(self, count: int) -> Iterator[Callable[[], bool]]:
        """Let no operation end; gives a function that waits until so many operations are waited for."""
        begun, waited = threading.Event(), set()

        def observe(_: int, request: str) -> None:
            if request.endswith("/wait"):
                waited.add(request)
                if len(waited) >= count:
                    begun.set()

        self.hold_operations()
        with self.interceptor.observed(observe):
            yield lambda: begun.wait(HANGS)

    def fail(self, method: str, **fault: Any) -> None:
        """Inject a fault into the next call of a method."""
        self.emulator.faults.queue.append(Fault(method=method, **fault))

    def calls(self, *prefixes: str) -> list[str]:
        """Return the methods that were called, in order; given prefixes, only those that begin with one of them."""
        names = [entry["method"] for entry in self.emulator.requests.kept]
        return [name for name in names if not prefixes or name.startswith(prefixes)]

    def requests(self, method: str) -> list[dict[str, Any]]:
        """Return every request for a method."""
        return [entry for entry in self.emulator.requests.kept if entry["method"] == method]

    def get(self, path: str) -> dict[str, Any] | None:
        """Return a stored resource, or None."""
        self.emulator.operations.settle()
        return self.emulator.store.get(path)

    def name_operations(self, prefix: str) -> None:
        """Write a prefix such as `compute.instances.` before the types of all operations, as Google does for some."""
        self.emulator.store.run(
            "update operations set body = json_replace(body, '$.operationType', "
            "? || json_extract(body, '$.operationType'))",
            (prefix,),
        )

    def change(self, path: str, change: Any) -> None:
        """Change a stored resource directly, without a request."""
        body = self.get(path)
        assert body is not None, path
        change(body)
        self.emulator.store.put(path, body)

    def delete(self, path: str) -> None:
        """Delete a stored resource as somebody else does, without a request."""
        resource = self.get(path)
        assert resource is not None, path
        self.emulator.store.delete(path)
        record_deletion(self.emulator.cloud, resource)

    def post(self, path: str, body: dict[str, Any]) -> None:
        """Create a resource through the API, then clear the log of requests."""
        response = plain_http.post(f"http://{self.host}{path}", json=body)
        response.raise_for_status()
        self.emulator.operations.settle()
        self.emulator.requests.kept.clear()

    def prepare(self) -> None:
        """Create everything that programs with all resources refer to, and an instance that they do not mention."""
        self.make_bucket()
        self.make_topics()
        for name in ("example-data", "more-data"):
            self.make_disk(name)
        for name in ("example-vm", "web-100"):
            self.make_instance(name)

    def add_machine_type(self, name: str) -> None:
        """Add a machine type that Google does not have, in every zone."""
        self.emulator.store.put("machine-types/all", {"added": {name: {"guestCpus": 4, "memoryMb": 16384}}})

    def make_bucket(self) -> None:
        """Create the bucket that notifications in tests use."""
        link = f"https://www.googleapis.com/storage/v1/b/{BUCKET}"
        own = {"name": BUCKET, "id": BUCKET, "selfLink": link, "projectNumber": project_number(PROJECT)}
        bucket = {**NEW_BUCKET, "kind": "storage#bucket", **own, "_project": PROJECT}
        self.emulator.store.put(f"b/{BUCKET}", bucket)

    def detach(self, vm: str, disk: str) -> None:
        """Detach a disk from an instance as somebody else does, without a request; both are given by their paths."""
        self.change(
            vm, lambda body: body.update(disks=[one for one in body["disks"] if not one["source"].endswith(disk)])
        )
        self.change(disk, lambda body: body.update(users=[]))
        record_event(self.emulator.cloud, _DETACHMENT, self.get(vm) or {}, self.clock.now())

    def make_bucket_anew(self) -> None:
        """Delete that bucket with its notification configurations, and create another one of the same name."""
        url = f"http://{self.host}/storage/v1/b/{BUCKET}"
        plain_http.delete(url).raise_for_status()
        self.make_bucket()

    def make_topics(self) -> None:
        """Create the topics that notifications in tests and examples use."""
        for name in TOPICS:
            self.emulator.store.put(name, {"name": name})

    def make_instance(self, name: str = "example-vm", zone: str = ZONE) -> str:
        """Create a running instance with a boot disk; return its path."""
        boot = {
            "boot": True,
            "autoDelete": True,
            "deviceName": "boot",
            "initializeParams": {"sourceImage": "family/debian-12"},
        }
        body = {"name": name, "machineType": f"zones/{zone}/machineTypes/e2-medium", "disks": [boot]}
        self.post(f"/compute/v1/projects/{PROJECT}/zones/{zone}/instances", body)
        return f"projects/{PROJECT}/zones/{zone}/instances/{name}"

    def make_disk(self, name: str = "example-data", zone: str = ZONE) -> str:
        """Create a zonal disk; return its path."""
        self.post(f"/compute/v1/projects/{PROJECT}/zones/{zone}/disks", {"name": name, "sizeGb": "50"})
        return f"projects/{PROJECT}/zones/{zone}/disks/{name}"

    def grow_disk(self, path: str, size: int) -> None:
        """Give a disk a new size in GB."""
        self.post(f"/compute/v1/{path}/resize", {"sizeGb": str(size)})

    def make_regional_disk(self, name: str = "shared", region: str = "us-east1") -> str:
        """Create a regional disk; return its path."""
        zones = [f"projects/{PROJECT}/zones/{region}-{letter}" for letter in "bc"]
        self.post(
            f"/compute/v1/projects/{PROJECT}/regions/{region}/disks",
            {"name": name, "sizeGb": "50", "replicaZones": zones},
        )
        return f"projects/{PROJECT}/regions/{region}/disks/{name}"

    def make_placement_policy(self, name: str = "rack", region: str = "us-east1") -> str:
        """Create a compact placement policy for 22 instances; return its path."""
        body = {"name": name, "groupPlacementPolicy": {"collocation": "COLLOCATED", "maxDistance": 1}}
        self.post(f"/compute/beta/projects/{PROJECT}/regions/{region}/resourcePolicies", body)
        return f"projects/{PROJECT}/regions/{region}/resourcePolicies/{name}"

    def deliveries(self, at_least: int) -> list[dict[str, Any]]:
        """Wait for at least this many attempts to push; return all of them."""
        url = f"http://{self.host}/_emulator/deliveries"
        answer = plain_http.get(url, params={"atLeast": at_least})
        deliveries: list[dict[str, Any]] = answer.json()
        return deliveries

    def reset(self) -> None:
        """Restore the initial state."""
        self.clock.release()
        self.clock.advance(HOUR)  # for requests that still wait for it
        self.interceptor.reset()
        self.emulator.reset()
        self.emulator.clock = Clock()
        self.emulator.operations.latency = 0.0
        self.emulator.operations.compares_bodies = False
        self.emulator.operations.done_at_once = False
        self.emulator.operations.has_quick = True
        self.clock.reset()


@contextmanager
def running() -> Iterator[Emulated]:
    """Run an emulator in a thread."""
    emulator, clock = Emulator(strict=True), FakeClock(time.time())
    emulator.operations.clock = clock
    interceptor = Interceptor(application(emulator))
    with serving(interceptor, listen(), Grpc(emulator)) as host:
        serve_directly(host, Served(interceptor, _loop_of(interceptor, host)))
        try:
            yield Emulated(host, emulator, clock, interceptor)
        finally:
            serve_no_longer(host)
            clock.reset()


def _loop_of(interceptor: Interceptor, host: str) -> asyncio.AbstractEventLoop:
    """Return the loop that serves an emulator, which the first request shows."""
    plain_http.get(f"http://{host}/").raise_for_status()
    assert interceptor.loop is not None
    return interceptor.loop
