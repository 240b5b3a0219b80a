"""Names made up for resources whose program gives none."""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Any, Literal

import attrs

from gcpx.model.values import UNKNOWN, reveal

AUTONAMED = "__autonamed"
"""Marks inputs whose name was made up; the engine hides keys that begin with two underscores."""


IMPORTED = "__imported"
"""Marks inputs that an import made up from what Google shows, which is not all that there is."""


UNREAD = "__unread"
"""Marks outputs of a resource that was created but never read: Google's own values are not known yet."""


@attrs.frozen
class Autoname:
    """How names of a resource are made: the property, what it must match, and its longest form."""

    property: str
    pattern: re.Pattern[str]
    max_length: int
    suffix: int = 7


@attrs.frozen
class Proposal:
    """What the user's autonaming configuration asks for."""

    name: str
    mode: Literal["propose", "enforce", "disable"]


def apply(
    rule: Autoname, name: str, olds: dict[str, Any], news: dict[str, Any], seed: bytes, proposal: Proposal | None
) -> tuple[dict[str, Any], str | None]:
    """Give inputs their name; returns the inputs and, when no name can be made, the reason."""
    key = rule.property
    if news.get(key) is not None:
        carried = news.get(AUTONAMED) and reveal(news[key]) == reveal(olds.get(key, news[key]))
        return (news if carried else {k: v for k, v in news.items() if k != AUTONAMED}), None
    if (olds.get(AUTONAMED) or olds.get(IMPORTED)) and olds.get(key) not in (None, UNKNOWN):
        return news | {key: olds[key], AUTONAMED: True}, None
    if proposal is not None and proposal.mode == "disable":
        return news, "is required, because autonaming is disabled for this resource"
    if proposal is not None and proposal.mode == "enforce":
        return news | {key: proposal.name, AUTONAMED: True}, None
    made = _fit(rule, proposal.name) if proposal is not None else _invent(rule, name, seed)
    return news | {key: made, AUTONAMED: True}, None


def _invent(rule: Autoname, name: str, seed: bytes) -> str:
    suffix = (hashlib.sha256(seed + name.encode()).hexdigest() if seed else secrets.token_hex(16))[: rule.suffix]
    base = _slug(name)[: rule.max_length - rule.suffix - 1].rstrip("-")
    return f"{base}-{suffix}"


def _fit(rule: Autoname, name: str) -> str:
    """Bring a proposed name into form, keeping its end, where the random part usually stands."""
    slug = _slug(name)
    if len(slug) <= rule.max_length:
        return slug
    tail = slug[-(rule.suffix + 1) :]
    return slug[: rule.max_length - len(tail)].rstrip("-") + tail


def _slug(name: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return slug if slug[:1].isalpha() else f"r-{slug}".rstrip("-")
