"""What the preview of a fleet's update says, read from the words that the user sees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

import attrs

_BEGIN: Final = "what this update does:"
_MEMBERS: Final = re.compile(r"(at most )?([\d,]+) members? (?:is|are) ([a-z, ]+): (.+)")
_CREATED: Final = re.compile(r"([\d,]+) instances? (?:is|are) created(?:: (.+))?")
_FORGETTING: Final = re.compile(r"(at most )?([\d,]+) suspended members? (?:loses its|lose their) memory: (.+)")
_LEAST: Final = re.compile(r"[\d,]+ batch(?:es)?\b.*; at least ([\d,]+) of ([\d,]+) members run at any time")
_PAUSE: Final = re.compile(r"the rollout pauses when ([\d,]+) of [\d,]+ members (?:has|have) the new properties; .+")
_MORE: Final = re.compile(r"(.*) and ([\d,]+) more")
_OTHERS: Final = (
    re.compile(r"[\d,]+ members? keeps? what (?:its fallback|their fallbacks) changed, unless replaced: .+"),
    re.compile(r"[A-Za-z ]+ (?:is|are) not known yet, so batches and other numbers follow from the update"),
    re.compile(r"sourceInstanceTemplate is not known yet; if it stays the same link, no member changes: .+"),
    re.compile(r"if more members have to be deleted than maxDeleted allows, which is .+"),
)
"""Lines that say nothing about a member that could be wrong."""
KINDS: Final = (
    *("changed without a restart", "restarted", "replaced", "changed, and left stopped"),
    *("started", "deleted", "set back", "memory lost"),
)
"""What the words say of members; of suspended ones that are stopped, that their memory is lost."""


@attrs.frozen
class Members:
    """Members of which the preview says the same.

    Attributes:
        number: how many there are.
        names: those that are named.
        certain: whether it is said without `at most`.
    """

    number: int = 0
    names: frozenset[str] = frozenset()
    certain: bool = True

    @property
    def unnamed(self) -> int:
        """How many are only counted."""
        return self.number - len(self.names)


@attrs.frozen
class PreviewWords:
    """What a preview says.

    Attributes:
        of: the members, by what is said of them, one of `KINDS`.
        created: how many instances are created besides those that replace members.
        created_names: those of their names that are given.
        least: how many members run at any time, at least; None if nothing is said of that.
        pause: the number of changed members at which the rollout pauses; None if it does not pause.
    """

    of: Mapping[str, Members] = attrs.Factory(dict)
    created: int = 0
    created_names: frozenset[str] = frozenset()
    least: int | None = None
    pause: int | None = None

    @classmethod
    def among(cls, messages: Iterable[str]) -> PreviewWords:
        """Read the last announcement among messages; without one, nothing is announced."""
        said = [text.removeprefix(_BEGIN) for text in messages if text.startswith(_BEGIN)]
        return cls.read(said[-1]) if said else cls()

    @classmethod
    def read(cls, text: str) -> PreviewWords:
        """Read an announcement; raises AssertionError for words that this module does not know.

        >>> PreviewWords.read(" 5 members are deleted: web-5, web-4 (preempted), web-3 and 2 more").of["deleted"].unnamed
        2
        """
        words = cls()
        for line in text.strip().splitlines():
            words = words._with(line.removeprefix("- "))
        return words

    def members(self, *kinds: str) -> Members:
        """Return all members of which one of these is said."""
        found = [self.of[kind] for kind in kinds if kind in self.of]
        return Members(
            sum(item.number for item in found),
            frozenset().union(*(item.names for item in found)),
            all(item.certain for item in found),
        )

    def _with(self, line: str) -> PreviewWords:
        if found := _MEMBERS.fullmatch(line):
            assert found[3] in KINDS, line
            members = Members(_number(found[2]), _names(found[4]), certain=not found[1])
            return attrs.evolve(self, of={**self.of, found[3]: members})
        if found := _FORGETTING.fullmatch(line):
            members = Members(_number(found[2]), _names(found[3]), certain=not found[1])
            return attrs.evolve(self, of={**self.of, "memory lost": members})
        if found := _CREATED.fullmatch(line):
            return attrs.evolve(self, created=_number(found[1]), created_names=_names(found[2] or ""))
        if found := _LEAST.fullmatch(line):
            return attrs.evolve(self, least=_number(found[1]))
        if found := _PAUSE.fullmatch(line):
            return attrs.evolve(self, pause=_number(found[1]))
        assert any(pattern.fullmatch(line) for pattern in _OTHERS), f"unknown words: {line}"
        return self


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _names(text: str) -> frozenset[str]:
    """Read the names, without what is said about each in parentheses."""
    plain = re.sub(r" \([^)]*\)", "", text)
    more = _MORE.fullmatch(plain)
    return frozenset(filter(None, (more[1] if more else plain).split(", ")))
