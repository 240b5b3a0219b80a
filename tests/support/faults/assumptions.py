"""What gcpx assumes of Google and no recording shows: each assumption with a Google for which it is wrong."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

import attrs
from faults.other_google import Answer, Asked, Change, Google
from servers.emulated import Emulated
from values.programs import ATTACHMENT, FLEET, IMAGE, KEY, NOTIFICATION, PROJECT, TEMPLATE

from gcpx_emulator.app import application
from gcpx_emulator.core.clock import Clock
from gcpx_emulator.emulator import Emulator

_COMPUTE: Final = frozenset({TEMPLATE, IMAGE, ATTACHMENT, FLEET})
_EVERY: Final = _COMPUTE | {KEY, NOTIFICATION}
_NUMBER: Final = "123456789012"
"""The number of the project."""


@attrs.frozen(kw_only=True)
class Assumption:
    """An assumption.

    Attributes:
        name: what tests and docs/verified.md call the Google for which it is wrong.
        other: begins such a Google, which stands in front of an emulator.
        concerns: the tokens of the resources that depend on it.
        may_stop: whether a run may end with an error; otherwise it may only be slower.
        lag: seconds by which what Google shows lags behind.
    """

    name: str
    other: Callable[[Emulated], Change]
    concerns: frozenset[str] = _COMPUTE
    may_stop: bool = False
    lag: float = 0.0


def _begins(change: Change) -> Callable[[Emulated], Change]:
    """Begin a Google that remembers nothing."""
    return lambda _: change


# What a repeated request ID returns.


def _repeated(answer: Callable[[Emulated, Answer], Answer | None]) -> Callable[[Emulated], Change]:
    """Answer a repeated request ID otherwise; `answer` gets the first response, and gives None to have the work done."""

    def begin(cloud: Emulated) -> Change:
        first: dict[str, Answer] = {}

        async def change(asked: Asked, google: Google) -> Answer:
            request_id = asked.parameter("requestId")
            if not request_id:
                return await google(asked)
            if request_id in first:
                again = answer(cloud, first[request_id])
                if again is not None:
                    return again
                cloud.emulator.operations.forget_requests()
            found = await google(asked)
            if found.status in {0, 200}:
                first[request_id] = found
            return found

        return change

    return begin


def _refused(status: int, reason: str) -> Callable[[Emulated, Answer], Answer]:
    return lambda _cloud, _first: Answer.refusal(status, reason, "The request ID was used before.")


def _as_at_first(cloud: Emulated, first: Answer) -> Answer:
    """Answer as the first time, when the operation had just begun."""
    if first.body is not None:
        return first
    (row,) = cloud.emulator.store.run(
        "select body from operations where request is not null order by rowid desc limit 1"
    )
    return Answer(200, {**json.loads(row["body"]), "status": "RUNNING", "progress": 0})


# Operations.

_EARLY_WAITS: Final = 3


def _wait(status: int) -> Change:
    async def change(asked: Asked, google: Google) -> Answer:
        if asked.method.endswith("Operations.wait"):
            return Answer.refusal(status, "notFound" if status == 404 else "notImplemented", "There is no such method.")
        return await google(asked)

    return change


def _wait_returns_early(_: Emulated) -> Change:
    """Answer the first waits for an operation before it has ended, as the documentation allows."""
    waits = Counter[str]()

    async def change(asked: Asked, google: Google) -> Answer:
        answer = await google(asked)
        waits[asked.path] += 1
        if not asked.method.endswith("Operations.wait") or answer.status != 200 or waits[asked.path] > _EARLY_WAITS:
            return answer
        return Answer(200, {**answer.body, "status": "RUNNING", "progress": 50})

    return change


def _in_operations(alter: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Emulated], Change]:
    """Alter each operation in a response."""

    def altered(value: Any) -> Any:
        if isinstance(value, list):
            return [altered(item) for item in value]
        if not isinstance(value, dict):
            return value
        inner = {key: altered(item) for key, item in value.items()}
        return alter(inner) if inner.get("kind") == "compute#operation" else inner

    async def change(asked: Asked, google: Google) -> Answer:
        answer = await google(asked)
        return attrs.evolve(answer, body=altered(answer.body))

    return _begins(change)


def _without(*names: str) -> Callable[[Emulated], Change]:
    return _in_operations(lambda body: {key: value for key, value in body.items() if key not in names})


def _full_types(body: dict[str, Any]) -> dict[str, Any]:
    kind, target = body["operationType"].rpartition(".")[2], body["targetLink"]
    return {**body, "operationType": f"compute.{target.split('/')[-2]}.{kind}"}


# Lists and filters.


def _filters(are_of: re.Pattern[str], answer: Callable[[Asked], Asked | Answer]) -> Callable[[Emulated], Change]:
    """Answer lists otherwise whose filters match a pattern."""

    async def change(asked: Asked, google: Google) -> Answer:
        if not (asked.is_list and are_of.search(asked.parameter("filter"))):
            return await google(asked)
        given = answer(asked)
        return given if isinstance(given, Answer) else await google(given)

    return _begins(change)


_CLIENT_ID: Final = re.compile("clientOperationId")
_GROUP_ID: Final = re.compile("operationGroupId")
_OF_INSTANCES: Final = re.compile("^labels[.]|^name eq")


def _ignored(asked: Asked) -> Asked:
    return asked.without("filter")


def _refused_filter(_asked: Asked) -> Answer:
    return Answer.refusal(400, "invalid", "Invalid value for field 'filter'.")


def _nothing_found(asked: Asked) -> Asked:
    kept = asked.without("filter")
    return attrs.evolve(kept, query=(*kept.query, ("filter", 'name = "no-operation-has-this-name"')))


async def _small_pages_in_another_order(asked: Asked, google: Google) -> Answer:
    """Ignore the order that a list asks for, and give one item a page."""
    if not asked.is_list or not asked.method.startswith("compute."):
        return await google(asked)
    kept = asked.without("orderBy", "maxResults")
    return await google(attrs.evolve(kept, query=(*kept.query, ("maxResults", "1"))))


async def _whole_objects(asked: Asked, google: Google) -> Answer:
    """Ignore field masks."""
    return await google(asked.without("fields"))


# Delays.


class _Behind(Clock):
    """The time some seconds ago."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        super().__init__()
        self._clock, self._seconds = clock, seconds

    def now(self) -> float:
        return self._clock.now() - self._seconds


_TABLES: Final = ("resources", "operations", "pending", "counters")
_Rows = dict[str, list[tuple[Any, ...]]]


def _lagging(seconds: float, lags: Callable[[Asked], bool]) -> Callable[[Emulated], Change]:
    """Answer some requests from a copy that is some seconds old."""

    def begin(cloud: Emulated) -> Change:
        copy = Emulator()
        copy.operations.clock = _Behind(cloud.clock, seconds)
        past = [(float("-inf"), _rows(cloud.emulator))]
        old = application(copy)

        async def change(asked: Asked, google: Google) -> Answer:
            if lags(asked):
                rows = next(rows for moment, rows in reversed(past) if moment <= copy.operations.clock.now())
                _fill(copy, rows)
                return await google(asked, old)
            answer = await google(asked)
            if asked.verb != "GET" and not asked.method.endswith(".wait"):
                past.append((cloud.clock.now(), _rows(cloud.emulator)))
            return answer

        return change

    return begin


def _rows(emulator: Emulator) -> _Rows:
    return {table: [tuple(row) for row in emulator.store.run(f"select * from {table}")] for table in _TABLES}


def _fill(emulator: Emulator, content: _Rows) -> None:
    with emulator.store.transaction():
        emulator.store.reset()
        for table, rows in content.items():
            if rows:
                emulator.store.run_many(f"insert into {table} values ({', '.join('?' * len(rows[0]))})", rows)


def _is_list_of_resources(asked: Asked) -> bool:
    return asked.is_list and "Operations" not in asked.method


def _is_list_of_operations(asked: Asked) -> bool:
    return asked.is_list and "Operations" in asked.method


def _is_read(asked: Asked) -> bool:
    return (
        asked.verb == "GET" and asked.method.endswith((".get", "getLoginProfile")) and "Operations" not in asked.method
    )


# Names, numbers and links.


def _written_otherwise(pattern: str, replacement: str) -> Callable[[Emulated], Change]:
    """Write what matches a pattern otherwise in all responses of Compute."""

    async def change(asked: Asked, google: Google) -> Answer:
        answer = await google(asked)
        if not asked.method.startswith("compute.") or answer.status != 200:
            return answer
        return attrs.evolve(answer, body=_mapped(answer.body, lambda text: re.sub(pattern, replacement, text)))

    return _begins(change)


async def _project_number(asked: Asked, google: Google) -> Answer:
    """Name the project by its number in all responses, and accept the number."""

    def known(text: str) -> str:
        return text.replace(f"projects/{_NUMBER}", f"projects/{PROJECT}")

    given = attrs.evolve(
        asked,
        path=known(asked.path),
        query=tuple((name, known(value)) for name, value in asked.query),
        body=_mapped(asked.body, known),
    )
    answer = await google(given)
    return attrs.evolve(
        answer, body=_mapped(answer.body, lambda text: text.replace(f"projects/{PROJECT}", f"projects/{_NUMBER}"))
    )


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {_mapped(key, change): _mapped(item, change) for key, item in value.items()}
    return value


def _target_by_number(body: dict[str, Any]) -> dict[str, Any]:
    link = body["targetLink"]
    return {**body, "targetLink": f"{link.rpartition('/')[0]}/{body['targetId']}"}


_NUMERIC: Final = re.compile(r"/(?:instances|instanceTemplates|machineImages)/\d+(?:/|$)")


def _numbers(status: int, reason: str) -> Callable[[Emulated], Change]:
    """Refuse paths with numeric IDs."""

    async def change(asked: Asked, google: Google) -> Answer:
        if _NUMERIC.search(asked.path):
            return Answer.refusal(status, reason, "The path has no valid name.")
        return await google(asked)

    return _begins(change)


# What only some responses have.


async def _empty_success(asked: Asked, google: Google) -> Answer:
    """Answer changes of OS Login with an empty object."""
    answer = await google(asked)
    return (
        Answer(200, {})
        if asked.verb != "GET" and answer.status == 200 and asked.method.startswith("oslogin.")
        else answer
    )


async def _profile_as_success(asked: Asked, google: Google) -> Answer:
    """Answer changes of OS Login with the whole login profile."""
    answer = await google(asked)
    if asked.verb == "GET" or answer.status != 200 or not asked.method.startswith("oslogin."):
        return answer
    user = re.match(r"(/v1(?:alpha|beta)?/users/[^/:]+)", asked.path)
    assert user is not None, asked.path
    profile = await google(attrs.evolve(asked, verb="GET", path=f"{user[1]}/loginProfile", query=(), body=None))
    return Answer(200, {"loginProfile": profile.body})


async def _other_topic_form(asked: Asked, google: Google) -> Answer:
    answer = await google(asked)
    if not asked.method.startswith("storage.notifications"):
        return answer
    return attrs.evolve(answer, body=_mapped(answer.body, lambda text: text.removeprefix("//pubsub.googleapis.com/")))


async def _defaults_left_out(asked: Asked, google: Google) -> Answer:
    """Leave out what the documentation calls the default of a notification."""
    answer = await google(asked)

    def without(value: Any) -> Any:
        if isinstance(value, list):
            return [without(item) for item in value]
        if not isinstance(value, dict):
            return value
        kept = {key: without(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if not (key == "payload_format" and item == "JSON_API_V1")}

    return (
        attrs.evolve(answer, body=without(answer.body)) if asked.method.startswith("storage.notifications") else answer
    )


async def _no_details(asked: Asked, google: Google) -> Answer:
    """Leave out what a bulk creation says about each zone."""
    answer = await google(asked)
    return attrs.evolve(answer, body=_pruned(answer.body, {"instancesBulkInsertOperationMetadata"}))


def _pruned(value: Any, names: Iterable[str]) -> Any:
    if isinstance(value, list):
        return [_pruned(item, names) for item in value]
    if isinstance(value, dict):
        return {key: _pruned(item, names) for key, item in value.items() if key not in names}
    return value


_FLEETS: Final = frozenset({FLEET})
ASSUMPTIONS: Final = tuple(
    Assumption(**fields)
    for fields in (
        {"name": "a repeated request ID is refused with 400", "other": _repeated(_refused(400, "invalid")), "may_stop": True},
        {"name": "a repeated request ID is refused with 409", "other": _repeated(_refused(409, "duplicate")), "may_stop": True},
        {"name": "a repeated request ID makes a second operation", "other": _repeated(lambda _cloud, _first: None), "may_stop": True},
        {"name": "a repeated request ID returns the first response", "other": _repeated(_as_at_first), "may_stop": True},
        {"name": "operations have no clientOperationId", "other": _without("clientOperationId"), "may_stop": True},
        {"name": "wait is 404", "other": _begins(_wait(404))},
        {"name": "wait is 501", "other": _begins(_wait(501))},
        {"name": "wait returns before the end", "other": _wait_returns_early},
        {"name": "filters by clientOperationId are ignored", "other": _filters(_CLIENT_ID, _ignored)},
        {"name": "filters by clientOperationId are refused", "other": _filters(_CLIENT_ID, _refused_filter), "may_stop": True},
        {"name": "filters by clientOperationId find nothing", "other": _filters(_CLIENT_ID, _nothing_found), "may_stop": True},
        {"name": "filters by operationGroupId are ignored", "other": _filters(_GROUP_ID, _ignored), "concerns": _FLEETS},
        {"name": "filters by operationGroupId are refused", "other": _filters(_GROUP_ID, _refused_filter), "concerns": _FLEETS, "may_stop": True},
        {"name": "filters by operationGroupId find nothing", "other": _filters(_GROUP_ID, _nothing_found), "concerns": _FLEETS, "may_stop": True},
        {"name": "filters of instances are ignored", "other": _filters(_OF_INSTANCES, _ignored), "concerns": _FLEETS, "may_stop": True},
        {"name": "filters of instances are refused", "other": _filters(_OF_INSTANCES, _refused_filter), "concerns": _FLEETS, "may_stop": True},
        {"name": "lists ignore their order and have small pages", "other": _begins(_small_pages_in_another_order)},
        {"name": "field masks are ignored", "other": _begins(_whole_objects)},
        {"name": "lists lag by 5 seconds", "other": _lagging(5.0, _is_list_of_resources), "concerns": _EVERY, "may_stop": True, "lag": 5.0},
        {"name": "lists lag by 60 seconds", "other": _lagging(60.0, _is_list_of_resources), "concerns": _EVERY, "may_stop": True, "lag": 60.0},
        {"name": "lists of operations lag by 5 seconds", "other": _lagging(5.0, _is_list_of_operations), "may_stop": True, "lag": 5.0},
        {"name": "lists of operations lag by 60 seconds", "other": _lagging(60.0, _is_list_of_operations), "may_stop": True, "lag": 60.0},
        {"name": "reads lag by 5 seconds", "other": _lagging(5.0, _is_read), "concerns": _EVERY, "may_stop": True, "lag": 5.0},
        {"name": "reads lag by 60 seconds", "other": _lagging(60.0, _is_read), "concerns": _EVERY, "may_stop": True, "lag": 60.0},
        {"name": "links name the project by its number", "other": _begins(_project_number), "concerns": _EVERY, "may_stop": True},
        {"name": "links of targets end in the numeric ID", "other": _in_operations(_target_by_number), "may_stop": True},
        {"name": "links have another host", "other": _written_otherwise("^https://www[.]googleapis[.]com/", "https://compute.googleapis.com/")},
        {"name": "links have another version", "other": _written_otherwise("/compute/(v1|beta)/", "/compute/alpha/"), "may_stop": True},
        {"name": "links are paths", "other": _written_otherwise("^https://[^/]+/compute/[a-z0-9]+/", "")},
        {"name": "links are full resource names", "other": _written_otherwise("^https://[^/]+/compute/[a-z0-9]+/", "//compute.googleapis.com/"), "may_stop": True},
        {"name": "paths refuse numeric IDs with 400", "other": _numbers(400, "invalid")},
        {"name": "paths refuse numeric IDs with 403", "other": _numbers(403, "forbidden")},
        {"name": "paths refuse numeric IDs with 404", "other": _numbers(404, "notFound")},
        {"name": "types of operations have their collection", "other": _in_operations(_full_types)},
        {"name": "types of operations have no collection", "other": _in_operations(lambda body: {**body, "operationType": body["operationType"].rpartition(".")[2]})},
        {"name": "operations have no operationGroupId", "other": _without("operationGroupId"), "concerns": _FLEETS, "may_stop": True},
        {"name": "bulk creations have no status of each location", "other": _begins(_no_details), "concerns": _FLEETS, "may_stop": True},
        {"name": "OS Login answers changes with an empty object", "other": _begins(_empty_success), "concerns": frozenset({KEY})},
        {"name": "OS Login answers changes with the login profile", "other": _begins(_profile_as_success), "concerns": frozenset({KEY})},
        {"name": "topics have no host", "other": _begins(_other_topic_form), "concerns": frozenset({NOTIFICATION}), "may_stop": True},
        {"name": "notifications leave out defaults", "other": _begins(_defaults_left_out), "concerns": frozenset({NOTIFICATION})},
    )
)  # fmt: skip
"""All assumptions, each broken alone."""
