"""The parts of the console that change by themselves."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from gcpx_emulator.compute.call import path_of
from gcpx_emulator.console.markup import Html, address, joined, link, table, tag, void
from gcpx_emulator.console.resources import address_of, json_of, tree
from gcpx_emulator.core.call import HANDLERS
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.faults import Fault
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.secrets import masked, masked_endpoint
from gcpx_emulator.core.store import Store
from gcpx_emulator.emulator import Emulator

_FEW: Final = 12
_MANY: Final = 100
_BODY: Final = 4_000
"""The longest body of a request in the list, in characters."""
Query = Mapping[str, str]
Render = Callable[[Emulator, Query], Html]


def resources(emulator: Emulator, _: Query) -> Html:
    """Write the tree."""
    return tree(emulator.store)


def operations(emulator: Emulator, _: Query) -> Html:
    """Write the operations that move, and the last ones that have ended."""
    now, store = emulator.operations.clock.now(), emulator.store
    (moving,) = store.run("select count(*) as number from operations where ends > ?", (now,))
    columns = "select name, project, scope, body, begins, ends from operations"
    rows = [
        *store.run(f"{columns} where ends > ? order by ends, rowid limit ?", (now, _FEW)),
        *store.run(f"{columns} where ends <= ? order by rowid desc limit ?", (now, _FEW)),
    ][:_FEW]
    if not rows:
        return tag("p", "None yet.", class_="empty")
    number = moving["number"]
    words = tag("p", f"{number:,} under way." if number else "None is under way.", class_="soft")
    lines = [
        _operation(store, emulator.operations.get(row["project"], row["scope"], row["name"]), row["scope"])
        for row in rows
    ]
    return joined(words, table(("Operation", "Progress"), lines, "Operations"))


def _operation(store: Store, operation: Json, scope: str) -> tuple[object, ...]:
    """Write an operation with a link to its target, unless that has been deleted or is a whole project."""
    kind, percent = operation.get("operationType", ""), operation.get("progress", 0)
    target = path_of(str(operation.get("targetLink", "")), "")
    name: object = target.rpartition("/")[2] or "—"
    if store.get(target) is not None:
        name = tag("a", name, href=address_of(target))
    done = operation.get("status") == "DONE"
    errors = (operation.get("error") or {}).get("errors") or []
    if errors:
        state: object = tag("span", errors[0].get("code", "failed"), class_="bad")
    elif done:
        state = tag("span", "done", class_="good")
    else:
        bar = tag("progress", value=percent, max=100, aria_label=f"{kind} {percent}%")
        state = joined(bar, f" {percent}%")
    place = tag("small", kind, " in ", scope.rpartition("/")[2])
    return tag("div", name, " ", place, class_="what"), state


def latest_requests(emulator: Emulator, query: Query) -> Html:
    """Write the latest requests in short."""
    entries = _matching(emulator, query, _FEW)
    if not entries:
        return tag("p", "None yet.", class_="empty")
    lines = [(_status(entry), tag("code", entry["method"] or entry["path"])) for entry in entries]
    return table(("Status", "Method"), lines, "Latest requests")


def requests(emulator: Emulator, query: Query) -> Html:
    """Write the requests that match a filter, the latest first, with their bodies."""
    entries = _matching(emulator, query, _MANY)
    total = len(emulator.requests.kept)
    words = tag("p", f"{len(entries):,} shown, of {total:,} kept.", class_="soft")
    lines: list[tuple[object, ...]] = [
        (_status(entry), _called(entry), _time(entry["time"]), _duration(entry), entry.get("reason", ""))
        for entry in entries
    ]
    return joined(words, table(("Status", "Request", "Time", "Took", "Reason"), lines, "Requests")) if lines else words


def _called(entry: Json) -> Html:
    line = joined(tag("code", entry["method"] or "no method"), tag("small", f"{entry['httpMethod']} {entry['path']}"))
    query = f"?{'&'.join(f'{name}={value}' for name, value in entry['query'].items())}" if entry["query"] else ""
    if not query and not entry["body"]:
        return tag("div", line, class_="called")
    body = json.dumps(masked(entry["body"]), indent=2, ensure_ascii=False) if entry["body"] else ""
    cut = f"\n… {len(body) - _BODY:,} more characters" if len(body) > _BODY else ""
    content = tag("pre", query, "\n" if query and body else "", body[:_BODY] + cut, class_="json", tabindex=0)
    key = f"r {entry['time']} {entry['path']}"
    return tag("details", tag("summary", line), content, class_="called", data_key=key)


def _matching(emulator: Emulator, query: Query, most: int) -> list[Json]:
    """Return the latest requests that match the filter in a query, the latest first."""
    wanted = query.get("text", "").lower()
    method, status = query.get("method", "").lower(), query.get("status", "")
    reason, seconds = query.get("reason", "").lower(), query.get("seconds", "")
    since = emulator.requests.kept[-1]["time"] - float(seconds) if _is_number(seconds) and emulator.requests.kept else 0
    found: list[Json] = []
    for entry in reversed(emulator.requests.kept):
        if entry["time"] < since or len(found) == most:
            break
        if (
            method in entry["method"].lower()
            and _has_status(entry["status"], status)
            and reason in entry.get("reason", "").lower()
            and (not wanted or wanted in _searched(entry))
        ):
            found.append(entry)
    return found


def _is_number(words: str) -> bool:
    return words.isascii() and words.isdecimal()


def _has_status(status: int | None, wanted: str) -> bool:
    """Accept a status such as 404, or a class of them such as 4 or 4xx."""
    return str(status or "").startswith(wanted.lower().rstrip("x"))


def _searched(entry: Json) -> str:
    """Return the text of a request that a filter looks at, which has no secrets."""
    return json.dumps([entry["path"], entry["query"], masked(entry["body"])], ensure_ascii=False).lower()


def filters(query: Query) -> Html:
    """Write the form of the filter of requests, which works without a script."""
    fields = {
        "text": ("Text", "in the path or the body"),
        "method": ("Method", "compute.instances"),
        "status": ("Status", "404 or 5xx"),
        "reason": ("Reason", "notFound"),
        "seconds": ("Seconds", "of the latest"),
    }
    inputs = (
        tag(
            "label", words, void("input", name=name, value=query.get(name, ""), placeholder=example, autocomplete="off")
        )
        for name, (words, example) in fields.items()
    )
    buttons = joined(tag("button", "Filter"), link("All", "/console/requests"))
    return tag("form", *inputs, buttons, method="get", action="/console/requests", class_="fields", role="search")


def _status(entry: Json) -> Html:
    status = entry["status"]
    if status is None:
        return tag("span", "…", class_="soft", aria_label="not answered yet")
    return tag("span", status, class_="good" if status < HTTPStatus.BAD_REQUEST else "bad")


def _time(moment: float) -> Html:
    written = timestamp(moment)
    return tag("time", written.partition("T")[2].removesuffix("Z"), datetime=written, title=written)


def _duration(entry: Json) -> str:
    return f"{entry['seconds'] * 1000:,.0f} ms" if "seconds" in entry else ""


def pushes(emulator: Emulator, _: Query) -> Html:
    """Write the latest attempts to push messages, with the claims of their tokens."""
    entries = list(emulator.pusher.deliveries)[: -_MANY - 1 : -1]
    if not entries:
        return tag("p", "None yet. Pushes of messages to endpoints on this machine appear here.", class_="empty")
    lines = [
        (
            tag("span", entry["status"] or entry["error"], class_="bad" if _failed(entry["status"]) else "good"),
            joined(
                tag("b", entry["subscription"].rpartition("/")[2]), tag("small", masked_endpoint(entry["endpoint"]))
            ),
            joined(entry["messageId"], tag("small", f"attempt {entry['attempt']}")),
            _claims(entry),
            _time(entry["time"]),
        )
        for entry in entries
    ]
    return table(("Answer", "Subscription", "Message", "Token", "Time"), lines, "Pushes")


def _failed(status: int | None) -> bool:
    return status is None or status >= HTTPStatus.MULTIPLE_CHOICES


def _claims(entry: Json) -> Html:
    claims = entry.get("claims")
    if not claims:
        return tag("span", "none", class_="soft")
    key = f"t {entry['time']} {entry['messageId']}"
    return tag("details", tag("summary", claims.get("email", "claims")), json_of(claims), data_key=key)


def clock(emulator: Emulator, _: Query) -> Html:
    """Write the emulator's time."""
    return tag("p", tag("time", f"{timestamp(emulator.now())[:-5]}Z", class_="big"), class_="clock")


def faults(emulator: Emulator, _: Query) -> Html:
    """Write the faults that have not been used up."""
    if not emulator.faults.queue:
        return tag("p", "None.", class_="empty")
    lines = [
        (tag("code", fault.method), fault.times, _effect(fault), fault.reason or "", _removal(fault.name))
        for fault in emulator.faults.queue[:_MANY]
    ]
    return table(("Method", "Calls", "Answer", "Reason", "Name"), lines, "Faults")


def _effect(fault: Fault) -> str:
    if fault.drop:
        return f"cut {fault.drop} the work"
    return str(fault.status or ("the operation fails" if fault.operation else f"after {fault.delay:g} s"))


def _removal(name: str | None) -> Html:
    if not name:
        return joined("")
    where = address("/_emulator/faults", name=name)
    return joined(name, " ", tag("button", "Remove", type="button", data_delete=where, aria_label=f"Remove {name}"))


def methods() -> Html:
    """Write the emulated methods."""
    groups: dict[str, list[str]] = defaultdict(list)
    for method in sorted(HANDLERS):
        owner, _, verb = method.rpartition(".")
        groups[owner].append(verb)
    lines: list[tuple[Any, ...]] = [(tag("code", owner), ", ".join(verbs)) for owner, verbs in groups.items()]
    return table(("Resource", "Methods"), lines, "Emulated methods")


PANELS: Final[Mapping[str, Render]] = {
    "resources": resources,
    "operations": operations,
    "latest": latest_requests,
    "requests": requests,
    "pushes": pushes,
    "clock": clock,
    "faults": faults,
}
"""Every part that changes by itself, by the ID of its element."""
