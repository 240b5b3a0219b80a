"""What exists, in SQLite: resources by full path, in the order they were made."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, Final

Json = dict[str, Any]
_TABLES: Final = """
create table if not exists resources (
    path text primary key, collection text not null, body text not null, number integer not null
);
create index if not exists by_collection on resources (collection, number);
create index if not exists by_path on resources (collection, path);
create table if not exists operations (
    name text primary key, project text not null, scope text not null, request text, body text not null,
    begins real not null, ends real not null, effect text not null, settled integer not null
);
create index if not exists by_request on operations (project, request);
create index if not exists unsettled on operations (settled, ends);
create table if not exists counters (name text primary key, value integer not null);
"""


class Store:
    """One emulator's data; in memory, or in a file that outlives it."""

    def __init__(self, file: str = ":memory:") -> None:
        self.database = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self.database.row_factory = sqlite3.Row
        self.database.executescript(_TABLES)

    def reset(self) -> None:
        """Forget everything."""
        for table in ("resources", "operations", "counters"):
            self.database.execute(f"delete from {table}")  # noqa: S608 - names from this line

    def next(self, counter: str = "id") -> int:
        """Count up."""
        row = self.database.execute(
            "insert into counters values (?, 1) on conflict (name) do update set value = value + 1 returning value",
            (counter,),
        ).fetchone()
        return int(row["value"])

    def get(self, path: str) -> Json | None:
        """Read one resource."""
        row = self.database.execute("select body from resources where path = ?", (path,)).fetchone()
        return json.loads(row["body"]) if row else None

    def named(self, path: str) -> str:
        """Replace a resource's numeric ID in its path with its name; leave other paths unchanged."""
        collection, _, last = path.rpartition("/")
        if not (last.isascii() and last.isdecimal()):
            return path
        row = self.database.execute(
            "select path from resources where collection = ? and json_extract(body, '$.id') = ?", (collection, last)
        ).fetchone()
        return str(row["path"]) if row else path

    def put(self, path: str, body: Json) -> None:
        """Write one resource; its place in the order stays."""
        self.database.execute(
            "insert into resources values (?, ?, ?, ?) on conflict (path) do update set body = excluded.body",
            (path, path.rpartition("/")[0], json.dumps(body), self.next("order")),
        )

    def delete(self, path: str) -> None:
        """Remove one resource."""
        self.database.execute("delete from resources where path = ?", (path,))

    def list(self, collection: str) -> list[Json]:
        """Read a collection, oldest first."""
        rows = self.database.execute(
            "select body from resources where collection = ? order by number", (collection,)
        ).fetchall()
        return [json.loads(row["body"]) for row in rows]

    def scan(self, collections: Sequence[str], after: str = "") -> Iterator[tuple[str, Json]]:
        """Give what comes after a path in collections, by path, reading as it goes."""
        for collection in sorted(collections):
            rows = self.database.execute(
                "select path, body from resources where collection = ? and path > ? order by path", (collection, after)
            )
            for row in rows:
                yield row["path"], json.loads(row["body"])

    def collections(self, prefix: str, suffix: str) -> Iterator[str]:
        """Name the collections that hold something."""
        rows = self.database.execute(
            "select distinct collection from resources where substr(collection, 1, ?) = ? order by collection",
            (len(prefix), prefix),
        ).fetchall()
        return (row["collection"] for row in rows if row["collection"].endswith(suffix))

    def counts(self) -> dict[str, int]:
        """Count resources by kind."""
        rows = self.database.execute("select collection from resources").fetchall()
        kinds = [row["collection"].rpartition("/")[2] for row in rows]
        return {kind: kinds.count(kind) for kind in sorted(set(kinds))}
