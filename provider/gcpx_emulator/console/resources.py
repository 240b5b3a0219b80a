"""The resources: a tree by project and kind, lists, and the body of each."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any, Final

from gcpx_emulator.console.markup import Html, address, joined, link, tag, text
from gcpx_emulator.core.controls import SETTINGS
from gcpx_emulator.core.secrets import masked
from gcpx_emulator.core.store import Store

_LISTED: Final = 100
"""The number of resources on a page of a list."""
_LONGEST: Final = 100_000
"""The longest body that is shown, in characters."""
_NAMES: Final = {"b": "buckets", "o": "objects"}
"""Longer names of collections, for those that are abbreviated in paths."""
LIST: Final = "/console/resources"
RESOURCE: Final = "/console/resource"


def tree(store: Store) -> Html:
    """Write all collections with their numbers of resources, by project and kind."""
    rows = store.run("select collection, count(*) as number from resources group by collection order by collection")
    settings = {setting.name for setting in SETTINGS}
    projects: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        first, *others = row["collection"].split("/")
        if row["collection"] not in settings:
            kind = _NAMES.get((others or [first])[-1], (others or [first])[-1])
            owner = others[0] if first == "projects" and others else {"b": "Cloud Storage"}.get(first, first)
            projects[owner][kind][row["collection"]] = row["number"]
    if not projects:
        words = joined("None yet. Run ", tag("code", "pulumi up"), " with ", tag("code", "GCPX_EMULATOR_HOST"))
        return tag("p", words, " set to the host and port of this page.", class_="empty")
    return tag("ul", *(_project(name, kinds) for name, kinds in projects.items()), class_="tree")


def _project(name: str, kinds: dict[str, dict[str, int]]) -> Html:
    total = sum(number for collections in kinds.values() for number in collections.values())
    entries = (_kind(name, kind, collections) for kind, collections in sorted(kinds.items()))
    summary = tag("summary", tag("b", name), " ", _number(total))
    return tag("li", tag("details", summary, tag("ul", *entries), open=True, data_key=f"p {name}"))


def _kind(project: str, kind: str, collections: dict[str, int]) -> Html:
    if len(collections) == 1:
        ((collection, number),) = collections.items()
        return tag("li", link(kind, LIST, of=collection), " ", _number(number), tag("small", _place(collection)))
    entries = (
        tag("li", link(_place(collection) or collection, LIST, of=collection), " ", _number(number))
        for collection, number in list(collections.items())[:_LISTED]
    )
    more = len(collections) - _LISTED
    rest = tag("li", f"and {more:,} more", class_="soft") if more > 0 else ""
    summary = tag("summary", kind, " ", _number(sum(collections.values())))
    return tag("li", tag("details", summary, tag("ul", *entries, rest), data_key=f"k {project} {kind}"))


def _number(number: int) -> Html:
    return tag("span", f"{number:,}", class_="count")


def _place(collection: str) -> str:
    """Return where the resources of a collection are, such as `us-east1-b` or `global`."""
    parts = collection.split("/")
    return "/".join(parts[1 if parts[0] == "b" else 2 : -1]).removeprefix("zones/").removeprefix("regions/")


def listed(store: Store, collection: str, after: str) -> Html:
    """Write the resources of a collection after a path."""
    rows = store.run(
        "select path from resources where collection = ? and path > ? order by path limit ?",
        (collection, after, _LISTED + 1),
    )
    paths = [str(row["path"]) for row in rows]
    if not paths:
        return tag("p", "Nothing is here.", class_="empty")
    shown = paths[:_LISTED]
    entries = (tag("li", link(path.removeprefix(f"{collection}/"), RESOURCE, path=path)) for path in shown)
    more = tag("p", link("More", LIST, of=collection, after=shown[-1])) if len(paths) > _LISTED else ""
    return tag("div", tag("ul", *entries, class_="list"), more, class_="panel")


def resource(store: Store, path: str) -> Html | None:
    """Write the body of a resource; None if it does not exist."""
    body = store.get(path)
    if body is None:
        return None
    collection = path.rpartition("/")[0]
    back = tag("p", "in ", link(collection, LIST, of=collection), class_="soft")
    return joined(back, _actions(path) if "/instances/" in path else "", json_of(body))


def _actions(path: str) -> Html:
    """Write buttons that let something happen to an instance."""
    names = {"preempt": "Preempt", "host-error": "Let its host fail", "guest-terminate": "Shut down from within"}
    buttons = (
        tag("button", words, type="button", data_post=f"/_emulator/{name}", data_body=json.dumps({"instances": [path]}))
        for name, words in names.items()
    )
    return tag("p", *buttons, tag("output", class_="answer", role="status"), class_="actions")


def json_of(body: Any) -> Html:
    """Write the JSON of a resource without secrets and fields of the emulator's own; links can be followed."""
    shown = {name: value for name, value in masked(body).items() if not name.startswith("_")}
    whole = json.dumps(shown, indent=2, ensure_ascii=False)
    more = tag("p", f"{len(whole) - _LONGEST:,} more characters are not shown.") if len(whole) > _LONGEST else ""
    return joined(tag("pre", text(whole[:_LONGEST]), tabindex=0, class_="json"), more)


def address_of(path: str) -> str:
    """Return the address of the page of a resource."""
    return address(RESOURCE, path=path)
