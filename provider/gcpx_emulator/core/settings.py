"""Settings of the simulated cloud, such as quotas: set at `/_emulator/NAME`, and in effect until they are set again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs

from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.store import Store

SETTINGS: Final[list[Setting]] = []
"""Every setting, in the order of registration."""


@attrs.frozen
class Setting:
    """One setting.

    Attributes:
        name: as in its path, `/_emulator/NAME`.
        check: refuses a wrong value with an ApiError; gives the value to keep.
        default: its value until it is set.
    """

    name: str
    check: Callable[[Any], Json]
    default: Json = attrs.Factory(dict)

    def read(self, store: Store) -> Json:
        """Return the value that is in effect."""
        return store.get(self._path) or self.default

    def write(self, store: Store, value: Any) -> Json:
        """Check a value and put it in effect; return the value that is kept."""
        kept = self.check(value)
        store.put(self._path, kept)
        return kept

    @property
    def _path(self) -> str:
        return f"{self.name}/all"


def setting(name: str, check: Callable[[Any], Json], default: Json | None = None) -> Setting:
    """Register a setting."""
    registered = Setting(name, check, default or {})
    SETTINGS.append(registered)
    return registered
