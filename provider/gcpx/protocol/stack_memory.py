"""Remembers the resources that the engine has shown since Configure, so that Create and Delete recognize them."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Iterable
from typing import Any, Final, Self

import attrs

from gcpx.model.context import Replaced, name_in_urn
from gcpx.model.naming import AUTONAMED, Autoname, CreationMark
from gcpx.model.resource import Resource

_KEPT: Final = (
    "{id} was not replaced. An earlier run created it with the same content, so gcpx could not tell its replacement "
    "from the repetition of an interrupted creation. To replace it, set the resource option deleteBeforeReplace or, if "
    "its name was generated, run `pulumi up --refresh --target-replace {urn}`"
)
"""The warning about a deletion that would delete the resource that the replacement adopted."""
_HELD: Final = (
    "{id} was not deleted, because the resource {holder} of this stack manages it, too; only this resource's entry in "
    "the state was removed"
)
"""The warning about a deletion that would delete what another resource of the stack still has."""
_SHARED: Final = (
    "{id} is managed by the resource {holder} of this stack, too, and both would change it: remove one of them from "
    "the program; what exists stays"
)
"""The warning about two resources of a program that describe the same thing, as after a second import."""


@attrs.frozen
class Entry:
    """An entry of the state: the record of one resource.

    Attributes:
        identity: a key that all IDs of the Google resource share.
        key: unique among the entries of one Google resource: the mark of its creation or, after an import, the URN.
        adopted: whether its creation found, or may have found, an existing resource.
        members: the IDs of a fleet's members, which a fleet that was imported by another form of ID may have, too.
    """

    urn: str
    id: str
    identity: str
    key: str
    adopted: bool
    members: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        resource: Resource[Any],
        urn: str,
        resource_id: str,
        outputs: dict[str, Any],
        created: CreationMark | None = None,
    ) -> Self:
        """Create an entry from outputs without secrets; `created` is its mark if they do not have it yet."""
        mark = created or CreationMark.of(outputs)
        identity, adopted = resource.identity(resource_id, outputs), mark is not None and mark.adopted
        return cls(urn, resource_id, identity, mark.id if mark else urn, adopted, frozenset(_members_of(outputs)))


def _members_of(outputs: dict[str, Any]) -> list[Any]:
    return [item.get("id") for item in outputs.get("members") or () if isinstance(item, dict)]


@attrs.define
class StackMemory:
    """The resources that the engine has shown to this process. Thread-safe.

    Several entries of the state may describe one Google resource: under one URN after a forced replacement, and under
    several after an import under a second name.

    Attributes:
        provider_id: the ID of the provider's resource, which is unique to the stack; empty if the engine sent none.
        provider_urn: the URN of the provider's resource; empty if the engine sent none.
    """

    provider_id: str = ""
    provider_urn: str = ""
    _urns: dict[str, str] = attrs.Factory(dict)
    """The URN of the resource that was last shown or created with an ID, by ID."""
    _replaced: dict[str, Replaced] = attrs.Factory(dict)
    """The shown facts about a resource in case it is replaced, by URN."""
    _entries: dict[str, dict[str, Entry]] = attrs.Factory(dict)
    """The entries that this run leaves in the state, as far as the engine has shown, by identity and key."""
    _identities: dict[str, set[str]] = attrs.Factory(dict)
    """The identities of the entries, by URN."""
    _holders: dict[str, dict[str, Entry]] = attrs.Factory(dict)
    """The entries of fleets that have a member, by the member's ID and their URN."""
    _lock: threading.RLock = attrs.field(factory=threading.RLock, eq=False)

    def urn_of(self, resource_id: str) -> str | None:
        """Return the URN of the resource with an ID; None if none was shown or created."""
        with self._lock:
            return self._urns.get(resource_id)

    def claim(self, urn: str, resource_id: str) -> None:
        """Remember a resource's ID, as soon as it is known."""
        with self._lock:
            self._urns[resource_id] = urn

    def replaced(self, urn: str) -> Replaced | None:
        """Return the shown facts about a resource that is about to be created; None if it is not a replacement."""
        with self._lock:
            return self._replaced.get(urn)

    def show(self, urn: str, resource_id: str, outputs: dict[str, Any]) -> None:
        """Remember a resource of the state; without outputs, it is about to be imported.

        Diff follows Check, and decides whether the resource is deleted before it is replaced. So the inputs from Check
        are not needed any more.
        """
        known = (resource_id, outputs.get("numericId"), outputs.get("operationGroupId"), *_members_of(outputs))
        with self._lock:
            if not outputs:
                self._leave(urn)
            self._urns[resource_id] = urn
            self._replaced[urn] = attrs.evolve(self._know(urn, known), inputs={})

    def checked(self, urn: str, rule: Autoname | None, olds: dict[str, Any]) -> None:
        """Remember the inputs of a resource of the state; without any, it is about to be created.

        Before every replacement, even if Diff did not ask for it, the engine checks once more, without old inputs.
        """
        with self._lock:
            if not olds:
                self._leave(urn)
                return
            name = olds.get(rule.property) if rule is not None and olds.get(AUTONAMED) else None
            self._replaced[urn] = attrs.evolve(self._know(urn, [name]), inputs=olds)

    def keep(self, entry: Entry) -> str:
        """Remember an entry that this run leaves in the state, unless the engine announces something else later.

        Returns a warning if another resource that stays describes the same thing; empty if none does.
        """
        with self._lock:
            same = self._entries.setdefault(entry.identity, {})
            same[entry.key] = entry
            self._identities.setdefault(entry.urn, set()).add(entry.identity)
            others = self._others(entry)
            for member in entry.members:
                self._holders.setdefault(member, {})[entry.urn] = entry
        return _SHARED.format(id=entry.id, holder=name_in_urn(others[0])) if others else ""

    def created(self, entry: Entry) -> None:
        """Remember a resource that was created, or may have been; its former entries are about to be deleted."""
        with self._lock:
            self._urns[entry.id] = entry.urn
            self._leave(entry.urn)
            self._replaced.pop(entry.urn, None)
            self.keep(entry)

    def forget(self, entry: Entry) -> None:
        """Forget an entry that leaves the state, because its Google resource is gone."""
        with self._lock:
            self._entries.get(entry.identity, {}).pop(entry.key, None)
            self._forget_identity(entry, is_in_state=False)
            if self._urns.get(entry.id) == entry.urn:
                del self._urns[entry.id]

    def release(self, entry: Entry) -> str | None:
        """Forget an entry that the engine deletes; return None if the Google resource has to be deleted with it.

        If another entry describes the same Google resource, that resource stays, and this returns the warning about it.
        The warning is empty if the entry was replaced because its resource was gone.
        """
        with self._lock:
            same = self._entries.get(entry.identity, {})
            same.pop(entry.key, None)
            self._forget_identity(entry, is_in_state=True)  # if a creation follows, its entry awaits the replacement
            own = [other for other in same.values() if other.urn == entry.urn]
            others = self._others(entry)
        if own:
            is_found = any(other.adopted for other in own)
            return _KEPT.format(id=entry.id, urn=shlex.quote(entry.urn)) if is_found else ""
        return _HELD.format(id=entry.id, holder=name_in_urn(others[0])) if others else None

    def _others(self, entry: Entry) -> list[str]:
        """Return the URNs of the other resources that the state has for the same thing, or for members of it."""
        same = list(self._entries.get(entry.identity, {}).values())
        for member in entry.members:
            holders = self._holders.get(member, {}).values()
            same += [other for other in holders if other is self._entries[other.identity].get(other.key)]
        return sorted({other.urn for other in same if other.urn != entry.urn})

    def _know(self, urn: str, values: Iterable[object]) -> Replaced:
        known = frozenset(value for value in values if isinstance(value, str))
        before = self._replaced.get(urn, Replaced())
        self._replaced[urn] = attrs.evolve(before, known=before.known | known, is_in_state=True)
        return self._replaced[urn]

    def _forget_identity(self, entry: Entry, *, is_in_state: bool) -> None:
        """Forget the URN of a resource that is gone, so that a new one with its ID does not count as another's."""
        known = self._replaced.get(entry.urn, Replaced()).known - {entry.id}
        self._replaced[entry.urn] = Replaced(known, is_in_state=is_in_state)

    def _leave(self, urn: str) -> None:
        """Forget the entries of a resource, because a new one follows."""
        for identity in self._identities.pop(urn, ()):
            left = {key: entry for key, entry in self._entries[identity].items() if entry.urn != urn}
            self._entries[identity] = left
