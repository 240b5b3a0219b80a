"""Stores the existing resources in SQLite, by path, in the order of their creation."""

from __future__ import annotations

import heapq
import json
import os
import sqlite3
import stat
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from gcpx_emulator.core.json_data import Json

DUE: Final = "_due"
"""The field of a resource with the time at which something is due for it, in seconds since 1970."""
SAVED: Final = b"SQLite format 3\0"
"""The beginning of a saved state, and of a file."""
_NAMES: Final = ("resources", "operations", "pending", "counters")
"""The tables."""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
"""The permissions of others than the user."""
_CHUNK: Final = 100
"""The number of rows that a scan reads at once."""
_AGE: Final = (
    "coalesce(-(strftime('%s', json_extract(body, '$.creationTimestamp')) * 1000 "
    "+ substr(strftime('%f', json_extract(body, '$.creationTimestamp')), 4)), 0)"
)
"""A resource's place from the newest to the oldest, as `listing.age` has it: minus its milliseconds since 1970."""
_TABLES: Final = f"""
create table if not exists resources (
    path text primary key, collection text not null, body text not null, number integer not null
);
create index if not exists by_collection on resources (collection, number);
create index if not exists by_path on resources (collection, path);
create index if not exists by_age on resources (collection, {_AGE}, path);
create index if not exists by_number on resources (collection, json_extract(body, '$.id'));
create index if not exists by_due on resources (json_extract(body, '$._due'))
    where json_extract(body, '$._due') is not null;
create table if not exists operations (
    name text primary key, project text not null, scope text not null, request text, body text not null,
    begins real not null, ends real not null, effect text not null, settled integer not null
);
create index if not exists by_request on operations (project, request);
create index if not exists unsettled on operations (settled, ends);
create index if not exists by_scope on operations (project, scope, name);
create index if not exists by_id on operations (json_extract(body, '$.id'));
create table if not exists pending (path text not null, operation text not null);
create index if not exists pending_by_path on pending (path);
create index if not exists pending_by_operation on pending (operation);
create table if not exists counters (name text primary key, value integer not null);
"""
_HELD: Final = """
create temp table held (holder text not null, subnetwork text not null, address text not null);
create index temp.held_by_holder on held (holder);
create index temp.held_by_address on held (subnetwork, address, holder);
create temp table sums (subnetwork text primary key, addresses integer not null);
create temp view links as
select resources.path as holder, json_extract(nic.value, '$.subnetwork') as link,
    json_extract(nic.value, '$.networkIP') as address
from resources, json_each(body, '$.networkInterfaces') as nic where collection glob 'projects/*/instances'
union all select resources.path, null, json_extract(config.value, '$.natIP')
from resources, json_each(body, '$.networkInterfaces') as nic, json_each(nic.value, '$.accessConfigs') as config
where collection glob 'projects/*/instances'
union all select path, json_extract(body, '$.subnetwork'), json_extract(body, '$.address')
from resources where collection glob 'projects/*/addresses'
and (json_extract(body, '$.subnetwork') is not null or json_extract(body, '$.addressType') = 'EXTERNAL');
create temp view holdings as
select holder, coalesce(substr(link, instr(link, 'projects/')), '') as subnetwork, address from links
where address is not null;
create temp trigger first_holder after insert on held
when not exists (select 1 from held where subnetwork = new.subnetwork and address = new.address and rowid != new.rowid)
begin
    insert into sums values (new.subnetwork, 1) on conflict (subnetwork) do update set addresses = addresses + 1;
end;
create temp trigger last_holder after delete on held
when not exists (select 1 from held where subnetwork = old.subnetwork and address = old.address)
begin
    update sums set addresses = addresses - 1 where subnetwork = old.subnetwork;
end;
create temp trigger insertion after insert on resources begin
    insert into held select * from holdings where holder = new.path;
end;
create temp trigger change after update of body on resources begin
    delete from held where holder = new.path;
    insert into held select * from holdings where holder = new.path;
end;
create temp trigger deletion after delete on resources begin
    delete from held where holder = old.path;
end;
insert into held select * from holdings;
"""
"""The addresses that instances and reserved addresses hold, each in a subnetwork; external ones in none. `sums` counts
the addresses of each subnetwork, each once.

SQLite keeps it beside every change of a resource. It is temporary: it follows from the resources, so neither a file nor
a saved state has it.
"""


def _make_private(file: str) -> None:
    """Let only this user read a file, which will hold keys and metadata. Its journals get the same permissions.

    Raises OSError if the file is another user's, and others may read it.
    """
    if file == ":memory:":
        return
    try:
        descriptor = os.open(file, os.O_CREAT | os.O_RDWR, 0o600)
    except (OSError, ValueError):  # sqlite3 says why it cannot be opened
        return
    found = os.fstat(descriptor)
    os.close(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_mode & _OTHERS:
        Path(file).chmod(0o600)


def _copy(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Copy the rows of all tables, which are empty in the target."""
    for table in _NAMES:
        names = [column[1] for column in target.execute(f"pragma table_info({table})")]
        rows = source.execute(f"select {', '.join(names)} from {table} order by rowid")  # noqa: S608 - names from this module
        values = ", ".join("?" * len(names))
        target.executemany(f"insert into {table} values ({values})", map(tuple, rows))  # noqa: S608 - as above


class StateError(Exception):
    """Bytes that no store has saved."""


def _check_tables(saved: sqlite3.Connection) -> None:
    """Refuse views in place of tables: they are programs, and may have rows without end."""
    rows = saved.execute("select name from sqlite_schema where type = 'table' and sql like 'create table%'")
    if missing := sorted(set(_NAMES) - {name for (name,) in rows}):
        raise StateError(f"it has no tables {', '.join(missing)}")


class Store:
    """The data of one emulator, in memory or in a file, which no other process can use at the same time.

    Attributes:
        lock: allows one thread at a time to use the connection; hold it around statements that belong together.
    """

    def __init__(self, file: str = ":memory:") -> None:
        self.lock = threading.RLock()
        _make_private(file)
        self._database = sqlite3.connect(file, 0, isolation_level=None, check_same_thread=False)
        self._database.row_factory = sqlite3.Row
        # The lock of the first transaction is kept.
        self._database.executescript(f"pragma locking_mode = exclusive; begin exclusive; {_TABLES} {_HELD} commit")

    @property
    def changes(self) -> int:
        """The number of rows that were written or deleted so far."""
        return self._database.total_changes

    def run(self, statement: str, values: Sequence[Any] = ()) -> Sequence[sqlite3.Row]:
        """Run one statement and return all its rows, before another thread can run a statement."""
        with self.lock:
            return self._database.execute(statement, values).fetchall()

    def run_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for many rows of values."""
        with self.transaction():
            self._database.executemany(statement, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Apply the statements of the block together, or none of them if it raises; blocks may be nested."""
        with self.lock:
            if self._database.in_transaction:
                yield
                return
            self._database.execute("begin")
            try:
                yield
            except BaseException:
                self._database.execute("rollback")
                raise
            self._database.execute("commit")

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def observe(self, observer: Callable[[str], None]) -> None:
        """Call a function before each statement, with its text."""
        self._database.set_trace_callback(observer)

    def save(self) -> bytes:
        """Return everything in the format of the file that a store can be kept in."""
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as saved, self.lock:
            saved.executescript(_TABLES)
            _copy(self._database, saved)
            return saved.serialize()

    def load(self, state: bytes) -> None:
        """Replace everything by what another store has saved.

        Raises:
            StateError: if `state` is something else; the store is then unchanged.
        """
        if not state.startswith(SAVED):
            raise StateError("this is no database")
        with closing(sqlite3.connect(":memory:")) as saved:
            try:
                saved.deserialize(state)
                _check_tables(saved)
                with self.transaction():
                    self.reset()
                    _copy(saved, self._database)
            except (sqlite3.Error, OverflowError, ValueError) as error:
                raise StateError(str(error)) from None

    def reset(self) -> None:
        """Delete everything."""
        with self.transaction():
            for table in _NAMES:
                self.run(f"delete from {table}")  # noqa: S608 - names from this module

    def next(self, counter: str = "id", number: int = 1) -> int:
        """Take `number` numbers from a counter, and return the first of them; counters begin with 1."""
        rows = self.run(
            "insert into counters values (?, ?) on conflict (name) do update set value = value + excluded.value "
            "returning value",
            (counter, number),
        )
        return int(rows[0]["value"]) - number + 1

    def restart(self, counter: str) -> None:
        """Let a counter begin with 1 again."""
        self.run("delete from counters where name = ?", (counter,))

    def new_id(self) -> str:
        """Return a numeric ID that no resource has yet."""
        return str(10**18 + self.next())

    def get(self, path: str) -> Json | None:
        """Read a resource; None if it does not exist."""
        rows = self.run("select body from resources where path = ?", (path,))
        return json.loads(rows[0]["body"]) if rows else None

    def with_name(self, path: str) -> str:
        """Replace the numeric ID at the end of a path with the resource's name; return other paths unchanged."""
        collection, _, last = path.rpartition("/")
        if not (last.isascii() and last.isdecimal()):
            return path
        rows = self.run(
            "select path from resources where collection = ? and json_extract(body, '$.id') = ?", (collection, last)
        )
        return str(rows[0]["path"]) if rows else path

    def put(self, path: str, body: Json) -> None:
        """Write a resource; a replaced one keeps its place in the order of creation."""
        with self.transaction():
            self.run(
                "insert into resources values (?, ?, ?, ?) on conflict (path) do update set body = excluded.body",
                (path, path.rpartition("/")[0], json.dumps(body), self.next("order")),
            )

    def first(self, collection: str, after: str = "") -> tuple[str, Json] | None:
        """Read the first path of a collection after a path, sorted by path, and its resource; None without one."""
        rows = self._rows_after(collection, after, 1)
        return (rows[0]["path"], json.loads(rows[0]["body"])) if rows else None

    def delete(self, path: str) -> None:
        """Delete a resource, if it exists."""
        self.run("delete from resources where path = ?", (path,))

    def list(self, collection: str) -> list[Json]:
        """Read the resources of a collection, oldest first."""
        rows = self.run("select body from resources where collection = ? order by number", (collection,))
        return [json.loads(row["body"]) for row in rows]

    def due(self, moment: float) -> Sequence[tuple[str, Json]]:
        """Read the paths and resources with something due by a moment, earliest first."""
        rows = self.run(
            "select path, body from resources where json_extract(body, '$._due') <= ? "
            "order by json_extract(body, '$._due')",
            (moment,),
        )
        return [(row["path"], json.loads(row["body"])) for row in rows]

    def scan(self, collections: Sequence[str], after: str = "") -> Iterator[tuple[str, Json]]:
        """Yield the paths and resources of collections after a path, sorted by path; they are read on demand."""
        for collection in sorted(collections):
            rows, last = self._rows_after(collection, after), after
            while rows:
                for row in rows:
                    last = row["path"]
                    yield last, json.loads(row["body"])
                rows = self._rows_after(collection, last)

    def _rows_after(self, collection: str, path: str, most: int = _CHUNK) -> Sequence[sqlite3.Row]:
        return self.run(
            "select path, body from resources where collection = ? and path > ? order by path limit ?",
            (collection, path, most),
        )

    def newest(self, collections: Sequence[str], age: int, after: str) -> Iterator[tuple[str, Json]]:
        """Yield the paths and resources of collections after an age and a path, newest first, then by path."""
        for _, path in heapq.merge(*(self._positions_after(collection, age, after) for collection in collections)):
            found = self.get(path)
            if found is not None:
                yield path, found

    def _positions_after(self, collection: str, age: int, path: str) -> Iterator[tuple[int, str]]:
        """Yield the ages and paths of a collection's resources, for which an index is enough."""
        while rows := self._positions("= ? and path > ?", collection, age, path) or self._positions(
            "> ?", collection, age
        ):
            for row in rows:
                age, path = row
                yield age, path

    def _positions(self, condition: str, *values: object) -> Sequence[sqlite3.Row]:
        """Read the next positions after one; each condition is a range of the index, and both together would not be."""
        return self.run(
            f"select {_AGE} as age, path from resources where collection = ? and {_AGE} {condition} "  # noqa: S608 - from this module
            f"order by {_AGE}, path limit ?",
            (*values, _CHUNK),
        )

    def collections(self, prefix: str, suffix: str) -> Iterator[str]:
        """Return the paths of non-empty collections with this beginning and end."""
        # Each step looks the next name up in an index, so that the number of resources does not matter.
        rows = self.run(
            "with recursive found(name) as (select min(collection) from resources where collection >= ? union all "
            "select (select min(collection) from resources where collection > name) from found "
            "where substr(name, 1, ?) = ?) select name from found where substr(name, 1, ?) = ?",
            (prefix, len(prefix), prefix, len(prefix), prefix),
        )
        return (row["name"] for row in rows if row["name"].endswith(suffix))

    def tally(self, collection: str, fields: Sequence[str]) -> dict[tuple[Any, ...], int]:
        """Count the resources of a collection by the values of fields, which may be dotted."""
        columns = ", ".join(f"json_extract(body, '$.{field}')" for field in fields) or "null"
        rows = self.run(
            f"select count(*), {columns} from resources where collection = ? group by {columns}",  # noqa: S608 - fields are named in the code
            (collection,),
        )
        return {tuple(row)[1 : 1 + len(fields)]: row[0] for row in rows}

    def holders(self, address: str, subnetwork: str) -> Sequence[str]:
        """Return the paths of the instances and reserved addresses with an address in a subnetwork, or in none ("")."""
        rows = self.run(
            "select distinct holder from held where subnetwork = ? and address = ? order by holder",
            (subnetwork, address),
        )
        return [row["holder"] for row in rows]

    def count_held(self, subnetwork: str) -> int:
        """Count the addresses in a subnetwork that instances use or that are reserved."""
        rows = self.run("select addresses from sums where subnetwork = ?", (subnetwork,))
        return int(rows[0]["addresses"]) if rows else 0

    def of_kind(self, kind: str) -> Sequence[tuple[str, Json]]:
        """Read the paths and resources of a kind, which is the last part of their collection's path, oldest first."""
        rows = self.run(
            "select path, body from resources where collection = ? or substr(collection, -?) = ? order by number",
            (kind, len(kind) + 1, f"/{kind}"),
        )
        return [(row["path"], json.loads(row["body"])) for row in rows]

    def counts(self) -> dict[str, int]:
        """Count the resources by the last part of their collection's path, such as `disks`."""
        found: Counter[str] = Counter()
        for row in self.run("select collection, count(*) as number from resources group by collection"):
            found[row["collection"].rpartition("/")[2]] += row["number"]
        return dict(sorted(found.items()))
