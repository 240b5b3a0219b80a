"""What the engine has shown of a stack since Configure, so that Create and Delete recognize resources in the state."""

from __future__ import annotations

import shlex
from typing import Any, Final

import attrs

from gcpx.model.call import name_in_urn
from gcpx.model.naming import ADOPTED, AUTONAMED, Autoname
from gcpx.model.resource import Live

_KEPT: Final = (
    "{id} was not replaced. It was created with the same content by an earlier run, so its replacement could not be "
    "told from the repetition of an interrupted creation. To replace it, set the resource option deleteBeforeReplace; "
    "if its name was generated, `pulumi up --refresh --target-replace {urn}` replaces it, too"
)
"""The warning about a deletion that would delete what a creation of the same run has adopted."""
_HELD: Final = (
    "{id} was not deleted, because the resource {holder} of this stack has it, too; this resource leaves the state only"
)
"""The warning about a deletion that would delete what another resource of the program still has."""


@attrs.define
class StackMemory:
    """The resources that the engine has shown to this process.

    Attributes:
        provider_id: the ID of the provider's resource, which is unique to the stack; empty if the engine sent none.
        provider_urn: the URN of the provider's resource; empty if the engine sent none.
        ids: the IDs of all resources that were shown or created, with their URNs.
    """

    provider_id: str = ""
    provider_urn: str = ""
    ids: dict[str, str] = attrs.Factory(dict)
    _shown: dict[str, set[str]] = attrs.Factory(dict)
    _adoptions: dict[tuple[str, str], str] = attrs.Factory(dict)
    """The marks of adopted resources, by URN and ID."""
    _holders: dict[str, str] = attrs.Factory(dict)
    """By ID, the URN of the resource of the program that has it before and after this run."""

    def shown(self, urn: str) -> frozenset[str]:
        """Return what was shown of a resource: IDs, numeric IDs and generated names."""
        return frozenset(self._shown.get(urn, ()))

    def show(self, urn: str, resource_id: str, outputs: dict[str, Any], *, stays: bool = False) -> None:
        """Remember a resource of the state, and whether this run is known to leave it; the outputs may hold secrets."""
        self.ids[resource_id] = urn
        if stays:
            self._holders[resource_id] = urn
        known = (resource_id, outputs.get("numericId"))
        self._shown.setdefault(urn, set()).update(value for value in known if isinstance(value, str))
        if outputs.get(ADOPTED):
            self._adoptions.setdefault((urn, resource_id), outputs[ADOPTED])

    def show_inputs(self, urn: str, rule: Autoname | None, inputs: dict[str, Any]) -> None:
        """Remember the generated name of a resource of the state; without inputs, the engine is about to create it.

        Before every replacement, also one that Diff did not ask for, the engine checks once more, without old inputs.
        """
        if not inputs:
            self._leaves(urn)
        if rule is not None and inputs.get(AUTONAMED) and isinstance(inputs.get(rule.property), str):
            self._shown.setdefault(urn, set()).add(inputs[rule.property])

    def created(self, urn: str, live: Live) -> None:
        """Remember what was created, and whether it was adopted."""
        self.ids[live.id] = urn
        self._leaves(urn)
        self._adoptions.pop((urn, live.id), None)
        if live.adoption:
            self._adoptions[urn, live.id] = live.adoption

    def _leaves(self, urn: str) -> None:
        """Forget that this run leaves to a resource what it has in the state."""
        self._holders = {held: holder for held, holder in self._holders.items() if holder != urn}

    def why_kept(self, urn: str, resource_id: str, outputs: dict[str, Any]) -> str:
        """Return the warning instead of a deletion that would delete what the state still has; empty if none would.

        In a replacement that the engine forces, nothing tells the creation that the resource that it finds is the one
        to be replaced. The state then has the resource twice, and the new entry has a mark that the old one does not
        have. The state also has a resource twice if it was imported under a second name.
        """
        mark = self._adoptions.get((urn, resource_id))
        if mark is not None and outputs.get(ADOPTED) != mark:
            return _KEPT.format(id=resource_id, urn=shlex.quote(urn))
        holder = self._holders.get(resource_id, urn)
        return "" if holder == urn else _HELD.format(id=resource_id, holder=name_in_urn(holder))
