"""What the tests of permissions run: each verb of each resource, and each function, with all that they may need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import attrs
import grpc
from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import Engine, Resource, failing, plain
from google.protobuf import empty_pb2
from servers import plain_http
from servers.emulated import Emulated
from servers.surroundings import make_surroundings
from values.programs import PROJECT

Inputs = dict[str, Any]
ONLINE: Final = "validateOnline"
"""The verb that stands for a preview with `validateOnline`."""
CALL: Final = "call"
"""The only verb of a function."""
_PROVIDER_ID: Final = "5b7d3ac1-9c2e-4f56-8d1e-2a6b7c8d9e0f"
"""The ID of the provider in the state, by which operations are found that an earlier run began."""


def _nothing(_: Emulated) -> None:
    """Arrange nothing."""


@attrs.frozen(eq=False)
class VerbRun:
    """One verb of a resource, or a function.

    Attributes:
        token: the resource or function.
        verb: `create`, `read`, `update`, `delete`, `list`, `validateOnline`, or `call` for a function.
        when: in words, the conditions under which the verb calls what it does not always call.
        inputs: the program; for a list the query, and for a function its arguments.
        changed: the program that an update leads to.
        world: prepares what others have, before the program is created.
        arrange: changes what exists before the verb; what an update then finds, a refresh has read.
        interrupted: the creation was cancelled while Google works on it.
        imports: a read is an import.
        fails: it fails in any case, and then reads what its message says.
        ends_early: it may not make every call that the verb otherwise makes.
        lacks: a permission that nobody has in this run.
        name: tells runs of one verb apart.
    """

    token: str
    verb: str
    inputs: Inputs
    changed: Inputs = attrs.Factory(dict)
    world: Callable[[Emulated], None] = _nothing
    arrange: Callable[[Emulated], None] = _nothing
    interrupted: bool = False
    imports: bool = False
    fails: bool = False
    ends_early: bool = attrs.field(default=attrs.Factory(lambda self: self.fails, takes_self=True))
    lacks: str = ""
    name: str = ""
    when: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "-".join(filter(None, (self.token.rpartition(":")[2], self.verb, self.name)))


@attrs.frozen
class Seen:
    """What happened during a verb.

    Attributes:
        calls: the API methods that it called, each with the HTTP method and the path.
        error: the message of its failure; empty if it succeeded.
    """

    calls: frozenset[tuple[str, str, str]]
    error: str

    @property
    def methods(self) -> frozenset[str]:
        """The IDs of the API methods that it called."""
        return frozenset(method for method, _, _ in self.calls)


def run(
    cloud: Emulated, item: VerbRun, denied: frozenset[str] = frozenset(), every: frozenset[str] = frozenset()
) -> Seen:
    """Run a verb while nobody has the permissions `denied`; of `every`, everyone has the others."""
    make_surroundings(cloud)
    cloud.emulator.operations.has_quick = False  # Google may be slow to end any operation
    item.world(cloud)
    config = {"project": PROJECT, "emulatorHost": cloud.host}
    more = {"validateOnline": "true"} if item.verb == ONLINE else {}
    with driver.connected(ClockedProvider()) as engine:
        engine.provider_id = _PROVIDER_ID
        engine.configure(**config, **more)
        before = _before(engine, cloud, item)
        cloud.emulator.requests.kept.clear()
        _set_policy(cloud, denied | {item.lacks} - {""}, every)
        error = ""
        try:
            _do(engine, item, before)
        except grpc.RpcError as failed:
            error = failed.details()
        kept = cloud.emulator.requests.kept
        calls = frozenset((entry["method"], entry["httpMethod"], entry["path"]) for entry in kept)
    return Seen(calls, error)


def _before(engine: Engine, cloud: Emulated, item: VerbRun) -> Resource | None:
    """Create what the verb is about."""
    if item.interrupted:
        return _interrupted(cloud, item)
    made = engine.create(item.token, "kept", item.inputs) if item.verb in {"read", "update", "delete"} else None
    item.arrange(cloud)
    changes_members = item.arrange is not _nothing and item.verb == "update"
    return engine.refresh(made) if made is not None and changes_members else made


def _interrupted(cloud: Emulated, item: VerbRun) -> Resource:
    """Cancel a creation; what waits for its operation then lets the time pass."""
    config = {"project": PROJECT, "emulatorHost": cloud.host}
    with driver.connected(ClockedProvider()) as engine, ThreadPoolExecutor() as pool, failing() as failed:
        engine.provider_id = _PROVIDER_ID
        engine.configure(**config)
        cloud.hold_operations()
        creation = pool.submit(engine.create, item.token, "kept", item.inputs)
        cloud.clock.wait_for_waiting()
        engine.stub.Cancel(empty_pb2.Empty())
        creation.result()
    cloud.clock.release()
    cloud.emulator.operations.latency = 0.0
    kept = failed[0].partial
    return Resource(engine.urn(item.token, "kept"), kept.id, plain(kept.inputs), plain(kept.properties))


def _do(engine: Engine, item: VerbRun, before: Resource | None) -> None:
    match item.verb:
        case "create":
            engine.create(item.token, "kept", item.inputs)
        case "list":
            engine.list(item.token, item.inputs)
        case "validateOnline":
            engine.check(item.token, "kept", item.inputs)
        case "call":
            engine.invoke(item.token, **item.inputs)
        case _:
            assert before is not None
            _do_existing(engine, item, before)


def _do_existing(engine: Engine, item: VerbRun, before: Resource) -> None:
    match item.verb:
        case "read" if item.imports:
            assert engine.import_(item.token, "kept", before.id) is not None
        case "read":
            # Without a list of operations, nothing shows that the creation goes on.
            assert engine.refresh(before) is not None or item.interrupted
        case "update":
            engine.update(before, item.changed)
        case "delete":
            engine.delete(before)


def _set_policy(cloud: Emulated, denied: frozenset[str], every: frozenset[str]) -> None:
    bindings = [{"permission": name, "members": [] if name in denied else ["*"]} for name in sorted(every | denied)]
    url = f"http://{cloud.host}/_emulator/policy"
    plain_http.post(url, json={"bindings": bindings}).raise_for_status()


def verbs_of(runs: list[VerbRun]) -> Iterator[tuple[str, str]]:
    """Yield each verb of each resource and function once."""
    yield from dict.fromkeys((item.token, item.verb) for item in runs)
