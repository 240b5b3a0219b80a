"""The instances as tiles, by fleet and zone."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, Final

import attrs

from gcpx_emulator.compute import guest_attributes
from gcpx_emulator.console.markup import Html, joined, tag
from gcpx_emulator.console.resources import address_of
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.store import Store

MOST_TILES: Final = 10_000
"""The number of instances that are drawn."""
_FEW: Final = 120
"""A fleet of at most this number of instances has tiles with names."""
_FLEET_LABEL: Final = "gcpx-bulk"
_GENERATION_LABEL: Final = "gcpx-generation"
_CHANGING: Final = "-changing"
"""The end of the label while a member is being changed."""
REPORTED: Final = "with guest attributes"
"""What is said of a running instance that has reported anything."""
_OTHERS: Final = "Other instances"
_STATUSES: Final = (
    "PROVISIONING",
    "STAGING",
    "RUNNING",
    "STOPPING",
    "SUSPENDING",
    "SUSPENDED",
    "STOPPED",
    "TERMINATED",
    "REPAIRING",
)
"""The statuses that have a colour."""
_DOWN: Final = frozenset({"STOPPING", "STOPPED", "TERMINATED"})
_EVENTS: Final = {
    "compute.instances.preempted": "preempted",
    "compute.instances.hostError": "host error",
    "compute.instances.guestTerminate": "shut down from within",
}
"""The types of operations that tell why an instance stopped, in words."""


@attrs.frozen
class Member:
    """An instance as the console shows it.

    Attributes:
        key: identifies the instance; one of the same name that replaces it has another key.
        number: its ID.
        fleet: the value of its label; empty without one.
        prefix: its name without the number at its end; empty without one.
        order: sorts names by their beginning, and then by their number.
        state: its status as a word for people, such as `running` or `preempted`.
    """

    key: str
    path: str
    number: str
    project: str
    zone: str
    fleet: str
    prefix: str
    order: tuple[str, int, str]
    name: str
    status: str
    state: str
    machine_type: str
    model: str
    generation: str
    has_reported: bool


@attrs.frozen
class Block:
    """The tiles of a fleet in one zone, by key, in the order of their names."""

    head: Html
    tiles: dict[str, Html]


@attrs.frozen
class Picture:
    """All fleets at a moment.

    Attributes:
        frames: for each fleet, its key and the keys of its blocks; a change of them changes the page's layout.
        heads: the head of each fleet by its key.
        summary: for screen readers.
        version: a name of this picture.
    """

    frames: tuple[tuple[str, tuple[str, ...], bool], ...] = ()
    heads: dict[str, Html] = attrs.Factory(dict)
    blocks: dict[str, Block] = attrs.Factory(dict)
    summary: str = "No instances."
    total: int = 0
    version: str = attrs.field(factory=lambda: uuid.uuid4().hex, eq=False)

    def whole(self) -> Html:
        """Write everything."""
        if not self.frames:
            words = "No instances yet. A fleet appears here as soon as it is created, with a tile for each instance."
            return tag("p", words, class_="empty")
        more = self.total - MOST_TILES
        note = tag("p", f"{more:,} more instances are not drawn.", class_="soft") if more > 0 else ""
        return joined(*(self._fleet(*frame) for frame in self.frames), note)

    def _fleet(self, key: str, blocks: tuple[str, ...], is_large: bool) -> Html:
        head = tag("header", self.heads[key], id=f"h{key}", class_="fleet-head")
        zones = tag("div", *(self._block(block) for block in blocks), class_="zones")
        return tag("article", head, zones, class_="fleet dense" if is_large else "fleet")

    def _block(self, key: str) -> Html:
        block = self.blocks[key]
        marks = {"class": "tiles", "role": "group", "tabindex": 0, "aria-labelledby": f"h{key}"}
        tiles = tag("div", *block.tiles.values(), id=f"t{key}", **marks)
        return tag("section", tag("h3", block.head, id=f"h{key}"), tiles, class_="zone")


def changes(old: Picture, new: Picture) -> dict[str, Any]:
    """Return what turns an old picture into a new one: everything, or heads and tiles that differ.

    A tile that is added comes with the key of the tile before which it stands; the last ones come first.
    """
    if old.frames != new.frames or old.total != new.total > MOST_TILES:
        return {"whole": new.whole()}
    heads = {f"h{key}": head for key, head in new.heads.items() if old.heads[key] != head}
    heads |= {f"h{key}": block.head for key, block in new.blocks.items() if old.blocks[key].head != block.head}
    gone = [tile for key, block in old.blocks.items() for tile in block.tiles if tile not in new.blocks[key].tiles]
    tiles = [change for key, block in new.blocks.items() for change in _tile_changes(key, old.blocks[key], block)]
    return {name: value for name, value in (("heads", heads), ("gone", gone), ("tiles", tiles)) if value}


def _tile_changes(key: str, old: Block, new: Block) -> Iterator[tuple[str, str, str, Html]]:
    following = ""
    for tile, html in reversed(new.tiles.items()):
        if old.tiles.get(tile) != html:
            yield f"t{key}", tile, following, html
        following = tile


@attrs.define
class Fleets:
    """Watches the fleets of an emulator.

    Attributes:
        picture: the fleets when they were last looked at.
    """

    store: Store
    picture: Picture = attrs.Factory(Picture)
    _seen: int = -1
    _last_operation: int = 0
    _events: dict[str, str] = attrs.Factory(dict)
    """What happened to instances, by ID."""
    _generations: dict[tuple[str, str], list[str]] = attrs.Factory(lambda: defaultdict(list))
    """The generations of each fleet, the one that a member last got at the end."""
    _of_member: dict[str, str] = attrs.Factory(dict)
    _members: dict[str, tuple[str, str | None, Member]] = attrs.Factory(dict)
    """What was last read of each instance, by path: its body, what happened to it, and the member."""
    _tiles: dict[str, tuple[Member, tuple[bool, bool], Html]] = attrs.Factory(dict)
    """The tile of each member, by key, with what it shows: the member, whether it is old and whether it is small."""

    def look(self) -> Picture:
        """Draw the fleets anew, if anything has changed in the store."""
        if self._seen != self.store.changes:
            self._seen = self.store.changes
            self._read_events()
            self.picture = self._draw(self._read())
        return self.picture

    def _read_events(self) -> None:
        """Read what has happened to instances since the last look."""
        (newest,) = self.store.run("select coalesce(max(rowid), 0) as id from operations")
        if newest["id"] < self._last_operation:  # the emulator was reset
            self._last_operation = 0
            self._events.clear()
        rows = self.store.run(
            "select json_extract(body, '$.operationType') as type, json_extract(body, '$.targetId') as target "
            "from operations where rowid > ? order by rowid",
            (self._last_operation,),
        )
        self._last_operation = newest["id"]
        for row in rows:
            if row["type"] in _EVENTS:
                self._events[str(row["target"])] = _EVENTS[row["type"]]
            else:
                self._events.pop(str(row["target"]), None)

    def _read(self) -> list[Member]:
        """Read the instances, those of a zone oldest first; most are as they were."""
        known, self._members = self._members, {}
        for collection in self.store.collections("projects/", "/instances"):
            # In the order of an index: the bodies need not be sorted.
            rows = self.store.run(
                "select path, body from resources where collection = ? order by number limit ?",
                (collection, MOST_TILES - len(self._members)),
            )
            for row in rows:
                path, body = str(row["path"]), str(row["body"])
                last = known.get(path)
                happened = self._events.get(last[2].number) if last else None
                if last is None or last[0] != body or last[1] != happened:
                    made = _member(path, json.loads(body), self._events)
                    last = body, self._events.get(made.number), made
                self._members[path] = last
        return [member for _, _, member in self._members.values()]

    def _total(self) -> int:
        rows = self.store.run("select collection, count(*) as number from resources group by collection")
        return sum(row["number"] for row in rows if row["collection"].endswith("/instances"))

    def _draw(self, members: list[Member]) -> Picture:
        prefixes = Counter((member.project, member.prefix) for member in members)
        by_fleet: dict[tuple[str, str], list[Member]] = defaultdict(list)
        for member in members:
            shared = member.prefix if prefixes[member.project, member.prefix] > 1 else ""
            by_fleet[member.project, member.fleet or shared or _OTHERS].append(member)
        frames, heads = [], {}
        blocks: dict[str, Block] = {}
        for name in sorted(by_fleet, key=lambda name: (name[0], name[1] == _OTHERS, name[1])):
            fleet, key = sorted(by_fleet[name], key=lambda member: member.order), _key(*name)
            newest, is_large = self._newest(name, fleet), len(fleet) > _FEW
            by_zone: dict[str, list[Member]] = defaultdict(list)
            for member in fleet:
                by_zone[member.zone].append(member)
            drawn = {_key(*name, zone): self._block(zone, by_zone[zone], newest, is_large) for zone in sorted(by_zone)}
            heads[key] = _head(name, fleet, newest)
            frames.append((key, tuple(drawn), is_large))
            blocks |= drawn
        self._of_member = {member.key: member.generation for member in members}
        self._tiles = {key: tile for key, tile in self._tiles.items() if key in self._of_member}
        return Picture(tuple(frames), heads, blocks, _summary(by_fleet), self._total())

    def _block(self, zone: str, members: list[Member], newest: str, is_small: bool) -> Block:
        words = joined(tag("span", zone, class_="zone-name"), " ", tag("span", f"{len(members):,}", class_="soft"))
        tiles = {member.key: self._tile(member, member.generation != newest, is_small) for member in members}
        return Block(words, tiles)

    def _tile(self, member: Member, is_old: bool, is_small: bool) -> Html:
        """Write a tile, unless it is as it was."""
        last = self._tiles.get(member.key)
        if last is None or last[0] is not member or last[1] != (is_old, is_small):
            last = self._tiles[member.key] = member, (is_old, is_small), _tile(member, is_old, is_small)
        return last[2]

    def _newest(self, name: tuple[str, str], members: list[Member]) -> str:
        """Return the generation that a member of a fleet got last."""
        order = self._generations[name]
        for member in members:
            if self._of_member.get(member.key) != member.generation:
                if member.generation in order:
                    order.remove(member.generation)
                order.append(member.generation)
        present = {member.generation for member in members}
        order[:] = [generation for generation in order if generation in present]
        return order[-1] if order else ""


def _member(path: str, body: Json, events: dict[str, str]) -> Member:
    """Read an instance; its body may have any values, because tests can change them."""
    _, project, _, zone, *_ = path.split("/")
    labels, status, scheduling = body.get("labels"), str(body.get("status", "")), body.get("scheduling")
    labels = labels if isinstance(labels, dict) else {}
    number, name = str(body.get("id")), path.rpartition("/")[2]
    digits = re.search("[0-9]{0,18}$", name, re.ASCII)
    head = name[: digits.start()] if digits else name
    return Member(
        key=_key(path, number),
        path=path,
        number=number,
        project=project,
        zone=zone,
        fleet=str(labels.get(_FLEET_LABEL) or ""),
        prefix=head.rstrip("-") if head != name else "",
        order=(head, int(name[len(head) :] or 0), name),
        name=name,
        status=status,
        state=(events.get(number) if status in _DOWN else None) or status.lower(),
        machine_type=str(body.get("machineType", "")).rpartition("/")[2],
        model=str(scheduling.get("provisioningModel", "") if isinstance(scheduling, dict) else ""),
        generation=str(labels.get(_GENERATION_LABEL) or "").removesuffix(_CHANGING),
        has_reported=status == "RUNNING" and bool(body.get(guest_attributes.FIELD)),
    )


def _key(*parts: str) -> str:
    return hashlib.blake2b("\n".join(parts).encode(errors="replace"), digest_size=6).hexdigest()


def _tile(member: Member, is_old: bool, is_small: bool) -> Html:
    details = [member.name, member.state, REPORTED if member.has_reported else "", member.machine_type]
    details += [member.model.lower(), "older generation" if is_old else ""]
    words = ", ".join(filter(None, details))
    marks = f"tile {_look(member.status, member.state)}" + (" old" if is_old else "")
    return tag(
        "a",
        "" if is_small else member.name,
        id=f"i{member.key}",
        class_=marks + (" reported" if member.has_reported else ""),
        href=address_of(member.path),
        aria_label=words,
        tabindex=-1,
    )


def _look(status: str, state: str) -> str:
    """Return the classes of the look of a status."""
    known = status.lower() if status in _STATUSES else "unknown"
    return f"{known} event" if state != status.lower() else known


def _head(name: tuple[str, str], members: list[Member], newest: str) -> Html:
    project, fleet = name
    counts = Counter((member.status, member.state) for member in members)
    chips = [
        tag("li", tag("i", class_=f"dot {_look(status, state)}"), f"{number:,} {state}")
        for (status, state), number in sorted(counts.items(), key=_by_status)
    ]
    reported = sum(member.has_reported for member in members)
    chips += [tag("li", f"{reported:,} {REPORTED}", class_="soft")] if reported else []
    old = sum(member.generation != newest for member in members)
    chips += [tag("li", tag("i", class_="dot old"), f"{old:,} of an older generation")] if old else []
    return joined(
        tag("h2", fleet, " ", tag("small", project)),
        tag("p", tag("b", f"{len(members):,}"), " instance" if len(members) == 1 else " instances", class_="total"),
        tag("ul", *chips, class_="chips"),
    )


def _by_status(item: tuple[tuple[str, str], int]) -> tuple[int, str]:
    status, state = item[0]
    return _STATUSES.index(status) if status in _STATUSES else len(_STATUSES), state


def _summary(fleets: dict[tuple[str, str], list[Member]]) -> str:
    """Say how many instances each fleet has, by what they do."""
    words = []
    for (_, fleet), members in fleets.items():
        counts = Counter(member.state for member in members)
        words.append(f"{fleet}: " + ", ".join(f"{number:,} {state}" for state, number in sorted(counts.items())))
    return "; ".join(words) + "." if words else "No instances."
