"""Generated names for resources that the program does not name, and the hidden inputs and outputs."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from typing import Any, Final, Literal, Self

import attrs

from gcpx.model.fields import Failure
from gcpx.model.values import UNKNOWN, reveal

AUTONAMED: Final = "__autonamed"
"""Marks inputs whose name was generated. The engine hides keys that begin with two underscores."""
WRITTEN: Final = "written"
"""The value of that mark if the program itself has the generated name, which a replacement may therefore keep."""
IMPORTED: Final = "__imported"
"""Marks imported inputs: Google does not return every property that a user may have set."""
UNREAD: Final = "__unread"
"""Marks outputs of a resource that was created but never read: Google's values are not known yet.

The value is true or, if it is known, the numeric ID of what the creation changes, such as an instance."""
KEPT: Final = "__kept"
"""A hidden output: the outputs that only later updates need, which are declared as hidden."""
UNFINISHED: Final = "__unfinished"
"""Marks outputs of a `Growing` resource after a failed change, so that a refresh does not hide the failure."""
CREATION: Final = "__creation"
"""A hidden output: how the resource was created, the fields of a `CreationMark`."""
STACK_DIGITS: Final = 8
"""The number of a requester's digits that all resources of a stack share."""
_REQUESTER: Final = re.compile(f"[0-9a-f]{{{STACK_DIGITS + 32}}}")


@attrs.frozen
class Autoname:
    """The form of a resource's generated names.

    Attributes:
        property: the property with the name.
        max_length: the maximum length of the name, in characters.
        suffix: the length of the random part at the end, in characters.
    """

    property: str
    max_length: int
    suffix: int = 7


@attrs.frozen
class Proposal:
    """The name that the user's autonaming configuration gives.

    Attributes:
        mode: `propose` allows shortening the name, `enforce` does not, `disable` forbids generated names.
    """

    name: str
    mode: Literal["propose", "enforce", "disable"]


@attrs.frozen
class NameRequest:
    """The engine's request for a name, if the resource needs one.

    Attributes:
        resource: the resource's name in the program.
        seed: makes generated names repeatable; empty if the engine gives none.
        proposal: from the user's autonaming configuration, if there is one.
    """

    resource: str
    seed: bytes
    proposal: Proposal | None


def without_hidden(inputs: dict[str, Any]) -> dict[str, Any]:
    """Leave out hidden inputs, which exist only in state."""
    return {key: value for key, value in inputs.items() if not key.startswith("__")}


@attrs.frozen
class CreationMark:
    """The record of a resource's creation in state.

    Attributes:
        id: unique to a creation, to distinguish two entries of a state for one resource.
        requester: identifies the sender of the creation's requests; their IDs are derived from it. It stays when an
            alias, another version of the SDK or `pulumi state move` changes the URN or the provider. Empty without
            a provider's ID.
        adopted: whether an earlier run created the resource, or may have.
    """

    id: str
    requester: str = ""
    adopted: bool = False

    @classmethod
    def of(cls, outputs: Mapping[str, Any]) -> Self | None:
        """Read the mark in outputs; None for an import, and for anything malformed, as after an edit of the state."""
        found = outputs.get(CREATION)
        if not isinstance(found, dict) or not isinstance(found.get("id"), str):
            return None
        digits = _REQUESTER.fullmatch(str(found.get("requester")))
        return cls(found["id"], digits[0] if digits else "", adopted=found.get("adopted") is True)


def requester(provider_id: str, urn: str, outputs: Mapping[str, Any]) -> str:
    """Return hexadecimal digits that identify the sender of a resource's creating requests, the stack's digits first.

    They stay the same from its creation on, even if its URN or its provider changes.

    Args:
        provider_id: the ID of the provider's resource, unique to a stack; without one, the result is empty.
        urn: the resource's URN.
        outputs: its outputs in the state.
    """
    creation = CreationMark.of(outputs)
    if creation is not None and creation.requester:
        return creation.requester
    if not provider_id:
        return ""
    of_stack, of_urn = (hashlib.sha256(text.encode()).hexdigest() for text in (provider_id, f"{provider_id} {urn}"))
    return f"{of_stack[:STACK_DIGITS]}{of_urn[:32]}"


def with_real_name(
    rule: Autoname | None, old: dict[str, Any], new: dict[str, Any], outputs: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return old and new inputs with the resource's actual name in place of a generated name that stays.

    A resource that an earlier run created keeps that run's generated name. Inputs and outputs have no secrets.
    """
    if rule is None or not isinstance(outputs.get(rule.property), str):
        return old, new
    real = {rule.property: outputs[rule.property]}
    stays = new.get(AUTONAMED) and new.get(rule.property) == old.get(rule.property)
    return {**old, **real} if old.get(AUTONAMED) else old, {**new, **real} if stays else new


def name_inputs(
    rule: Autoname | None, request: NameRequest, olds: dict[str, Any], news: dict[str, Any]
) -> tuple[dict[str, Any], list[Failure]]:
    """Name a resource: by its inputs, by its previous name, or by a generated name.

    Returns the inputs, and a failure if no name can be generated. Both inputs may hold secrets and unknowns.
    """
    if rule is None:
        return news, []
    key, proposal = rule.property, request.proposal
    if news.get(key) is not None:
        if reveal(news[key]) == reveal(olds.get(key, news[key])):
            # With the option ignoreChanges, the engine copies the generated name, but not the mark, into the inputs.
            mark = news.get(AUTONAMED) or (WRITTEN if olds.get(AUTONAMED) else None)
            return (news | {AUTONAMED: mark} if mark else news), []
        return {k: v for k, v in news.items() if k != AUTONAMED}, []
    if (olds.get(AUTONAMED) or olds.get(IMPORTED)) and olds.get(key) not in (None, UNKNOWN):
        return news | {key: olds[key], AUTONAMED: True}, []
    if proposal is not None and proposal.mode == "disable":
        return news, [Failure((key,), "is required, because autonaming is disabled for this resource")]
    if proposal is not None and proposal.mode == "enforce":
        return news | {key: proposal.name, AUTONAMED: True}, []
    name = _fit(rule, proposal.name) if proposal is not None else _generate(rule, request)
    return news | {key: name, AUTONAMED: True}, []


def _generate(rule: Autoname, request: NameRequest) -> str:
    seed, name = request.seed, request.resource
    suffix = (hashlib.sha256(seed + name.encode()).hexdigest() if seed else secrets.token_hex(16))[: rule.suffix]
    base = _slug(name)[: rule.max_length - rule.suffix - 1].rstrip("-")
    return f"{base}-{suffix}"


def _fit(rule: Autoname, name: str) -> str:
    """Shorten a proposed name, but keep its end, which usually is the random part."""
    slug = _slug(name)
    if len(slug) <= rule.max_length:
        return slug
    tail = slug[-(rule.suffix + 1) :]
    return slug[: rule.max_length - len(tail)].rstrip("-") + tail


def _slug(name: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return slug if slug[:1].isalpha() else f"r-{slug}".rstrip("-")
