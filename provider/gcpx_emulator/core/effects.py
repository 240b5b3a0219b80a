"""What operations do to the store when they end.

An effect is JSON, because it is kept in the store until its operation ends:

- `{"put": PATH, "body": RESOURCE}` creates or replaces a resource.
- `{"change": PATH, "fields": FIELDS}` sets fields of one, and removes those that are null. All others stay as they are
  when the operation ends.
- `{"delete": PATH}` deletes one.
- `{"relink": PATH, "field": NAME, "target": PATH, "link": URL or None}` changes one entry of a list of links, and keeps
  what other operations have changed in the resource in the meantime.
"""

from __future__ import annotations

from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.store import Store

Effect = Json


def put(path: str, body: Json) -> Effect:
    """Create or replace a resource."""
    return {"put": path, "body": body}


def change(path: str, fields: Json) -> Effect:
    """Set fields of a resource; None removes a field."""
    return {"change": path, "fields": fields}


def delete(path: str) -> Effect:
    """Delete a resource."""
    return {"delete": path}


def relink(path: str, field: str, target: str, link: str | None) -> Effect:
    """Set the link to the resource at `target` in a list of links; None removes it."""
    return {"relink": path, "field": field, "target": target, "link": link}


def changed_path(effect: Effect) -> str:
    """Return the path of the resource that an effect changes."""
    return str(next(effect[kind] for kind in ("put", "change", "delete", "relink") if kind in effect))


def apply(effect: Effect, store: Store) -> None:
    """Change the store; a resource that no longer exists is neither changed nor relinked."""
    if "put" in effect:
        store.put(effect["put"], effect["body"])
    elif "change" in effect:
        _change(effect, store)
    elif "delete" in effect:
        store.delete(effect["delete"])
    else:
        _relink(effect, store)


def _change(effect: Effect, store: Store) -> None:
    resource = store.get(effect["change"])
    if resource is not None:
        changed = resource | effect["fields"]
        store.put(effect["change"], {name: value for name, value in changed.items() if value is not None})


def _relink(effect: Effect, store: Store) -> None:
    resource = store.get(effect["relink"])
    if resource is None:
        return
    links = [link for link in resource.get(effect["field"], []) if not link.endswith(f"/{effect['target']}")]
    if effect["link"]:
        links.append(effect["link"])
    store.put(effect["relink"], resource | {effect["field"]: links})
