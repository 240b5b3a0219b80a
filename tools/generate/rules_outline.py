"""Where RULES.md describes each object: once, in the section of its only user or in a section of its own."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from generate.rule_rows import Path, Place, Usage


@attrs.frozen
class Outline:
    """The objects that users write, by name, and where each of them is used.

    Attributes:
        usages: for each object, the properties that hold it; none for inputs of a resource or arguments of a function.
        tokens: for each object, the resources or functions whose inputs or arguments it is.
    """

    usages: dict[str, list[Usage]]
    tokens: dict[str, list[str]]

    @classmethod
    def of(cls, places: Iterable[Place]) -> Outline:
        """Read the outline off the places of all objects."""
        usages: dict[str, list[Usage]] = {}
        tokens: dict[str, list[str]] = {}
        for place in places:
            used = usages.setdefault(place.object, [])
            if place.usage is None:
                tokens.setdefault(place.object, []).append(place.token)
            elif place.usage not in used:
                used.append(place.usage)
        return cls(usages, tokens)

    def section(self, name: str) -> str:
        """Name the object in whose section an object is described: its own if it is used in several places."""
        return name if self._has_section(name) else self.section(self.usages[name][0].parent)

    def path(self, name: str) -> Path:
        """Return the path of an object within its section."""
        if self._has_section(name):
            return ()
        usage = self.usages[name][0]
        return (*self.path(usage.parent), *usage.path)

    def users(self, name: str) -> dict[str, list[Path]]:
        """Return the paths of the properties that hold an object, by the section that describes them."""
        found: dict[str, list[Path]] = {}
        for usage in self.usages[name]:
            found.setdefault(self.section(usage.parent), []).append((*self.path(usage.parent), *usage.path))
        return found

    def uses(self, section: str) -> dict[str, list[Path]]:
        """Return the paths at which a section's properties hold an object with its own section, by that object."""
        apart = {name: self.users(name).get(section, []) for name in self.usages if self._has_section(name)}
        return {name: paths for name, paths in apart.items() if paths}

    def _has_section(self, name: str) -> bool:
        return name in self.tokens or len(self.usages[name]) > 1
