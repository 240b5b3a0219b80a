"""What the runs of all verbs show about permissions: which ones each verb needs, and when.

`make permissions` runs this module, and writes what it finds into the table of `generate.verb_permissions`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from fnmatch import fnmatch
from itertools import combinations
from typing import Final

import attrs
from generate.api_permissions import permissions_of
from generate.verb_permissions import TABLE, Row, any_of
from records.verb_runs import VerbRun, run, verbs_of
from records.verb_scenarios import RUNS
from servers.emulated import running

from gcpx_emulator.core.permissions import Permission

_NO_SUGGESTION: Final = "errors about a misspelled region or zone suggest no name"
_INTERRUPTED: Final = (
    "and after a creation that was interrupted, or whose first response says that it is done, commands fail until the "
    "permission is granted, because gcpx cannot tell who created the instances"
)
_EARLIER: Final = (
    "gcpx may not find what an interrupted run created, and does not warn about it; and if the resource was deleted "
    "within the last hour, only a second run creates it again"
)
_STILL_CREATING: Final = (
    "after an interrupted creation, gcpx may take what Google is still creating for gone, and says so in a warning"
)
_WITHOUT: Final = {
    "* validateOnline compute.regions.list": _NO_SUGGESTION,
    "* validateOnline compute.zones.list": _NO_SUGGESTION,
    "* validateOnline *": "gcpx leaves this check out, with a warning",
    "* create compute.regions.list": _NO_SUGGESTION,
    "*:BulkInstances create compute.regions.get": "an error does not show the usage of a used-up quota or the zones that exist",
    "*:BulkInstances create compute.regionOperations.list": f"{_EARLIER}; {_INTERRUPTED}",
    "*:BulkInstances create compute.zoneOperations.list": f"the error about missing instances is less exact; {_INTERRUPTED}",
    "*:BulkInstances *": "",
    "*:DiskAttachment create *Operations.list": (
        "gcpx may leave alone a disk that an interrupted run attached, or take over one that somebody else has "
        "attached anew since; and if the disk was detached within the last hour, only a second run attaches it again"
    ),
    "* create *Operations.list": _EARLIER,
    "* read *Operations.list": _STILL_CREATING,
    "* delete *Operations.list": _STILL_CREATING,
    "* create storage.projects.serviceAccount.get": "the error about a topic does not name the service agent",
}  # fmt: skip
"""What is missing if a verb may not call a method but does not fail; the first pattern that fits counts."""


_PROJECT: Final = "the project"
_VERBS: Final = ("create", "read", "update", "delete", "list", "validateOnline", "call")


def rows(token: str, verb: str, called: Mapping[VerbRun, frozenset[str]]) -> list[Row]:
    """Say which permissions a verb needs, from the methods that its runs called.

    The permissions that it always needs come first, then those that it sometimes needs, then those that only help.
    """
    free = ("oauth2.", "oslogin.")  # Google documents no permissions for their methods
    methods = sorted({name for names in called.values() for name in names if not name.startswith(free)})
    needs = [(need, method) for method in methods for need in permissions_of(method)]
    if not needs:
        return [Row(token, verb)]
    names = sorted({need.name for need, _ in needs})
    found = [_row(token, verb, [pair for pair in needs if pair[0].name == name], called) for name in names]
    return sorted(found, key=lambda row: 2 if row.without else bool(row.when))


def _row(token: str, verb: str, needs: list[tuple[Permission, str]], called: Mapping[VerbRun, frozenset[str]]) -> Row:
    """Describe a permission; when methods need it that the verb cannot do without, their conditions count."""
    row = Row(token, verb, needs[0][0].name)
    missing = {method: _without(token, verb, method) for _, method in needs}
    required: dict[Permission, set[VerbRun]] = {}
    for need, method in needs:
        if not missing[method]:
            required.setdefault(need, set()).update(
                item for item in called if method in called[item] and item.lacks != need.name
            )
    if not required:
        (need, method), *_ = needs
        return attrs.evolve(row, on=need.on, when=need.when, without=missing[method], methods=" ".join(missing))
    whens = [
        ", and ".join(dict.fromkeys(filter(None, (_case(runs, list(called)), need.when))))
        for need, runs in required.items()
    ]
    methods = " ".join(method for method in missing if not missing[method])
    places = [need.on for need in required]  # a permission on the project covers what is in it
    on = _PROJECT if _PROJECT in places else places[0]
    return attrs.evolve(row, on=on, when=any_of(whens), methods=methods)


def _without(token: str, verb: str, method: str) -> str:
    """Say what is missing without a method; empty if the verb fails then."""
    return next((words for pattern, words in _WITHOUT.items() if fnmatch(f"{token} {verb} {method}", pattern)), "")


def _case(runs: set[VerbRun], every: list[VerbRun]) -> str:
    """Find the conditions that tell these runs apart from the others; empty if all runs are like them."""
    whole = {item for item in every if not item.ends_early} or set(every)
    cases = dict.fromkeys(case for item in every for size in range(3) for case in combinations(item.when, size))
    fulfilled = {case: {item for item in every if set(case) <= set(item.when)} for case in cases}
    sufficient = {case: found for case, found in fulfilled.items() if found & whole <= runs}
    left, chosen = set(runs), set()
    while left:
        case = max(sufficient, key=lambda case: (len(left & sufficient[case]), -len(case)), default=())
        explained = left & sufficient.get(case, set())
        assert explained, f"`when` of these runs must say why they call more: {', '.join(map(str, left))}"
        left -= explained
        chosen.add(case)
    return any_of(", ".join(case) for case in cases if case in chosen)


def _observed() -> list[Row]:
    with running() as cloud:
        called = {item: run(cloud, item).methods for item in RUNS}
    return [
        row
        for verb in sorted(verbs_of(RUNS), key=lambda verb: (verb[0], _VERBS.index(verb[1])))
        for row in rows(*verb, {item: methods for item, methods in called.items() if (item.token, item.verb) == verb})
    ]


if __name__ == "__main__":
    found = _observed()
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in attrs.fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(attrs.asdict, found))
