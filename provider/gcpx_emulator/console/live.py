"""Sends what changes on a page, as server-sent events, while it changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Collection
from typing import Any, Final

import attrs

from gcpx_emulator.console.fleets import Fleets, Picture, changes
from gcpx_emulator.console.panels import PANELS, Query
from gcpx_emulator.emulator import Emulator

_PAUSE: Final = 0.5
"""Seconds between two looks."""
_SHARE: Final = 10
"""The shortest pause after a look, in times as long as the look took."""
_LONGEST_SILENCE: Final = 30
"""Looks without news until a comment is sent, which shows whether the page is still there."""
FLEETS: Final = "fleets"
"""The ID of the element with the tiles."""


@attrs.define
class Page:
    """What one page shows at the moment; `picture` is the one that it shows already, if any."""

    emulator: Emulator
    fleets: Fleets
    parts: Collection[str]
    query: Query
    _picture: Picture | None
    _panels: dict[str, str] = attrs.Factory(dict)

    def news(self) -> dict[str, Any]:
        """Return what differs from the last news; the first news are everything."""
        self.emulator.operations.settle()
        panels = {name: PANELS[name](self.emulator, self.query) for name in self.parts if name in PANELS}
        changed = {name: html for name, html in panels.items() if self._panels.get(name) != html}
        self._panels |= changed
        found: dict[str, Any] = {"panels": changed} if changed else {}
        return found | (self._tiles() if FLEETS in self.parts else {})

    def _tiles(self) -> dict[str, Any]:
        picture, last = self.fleets.look(), self._picture
        self._picture = picture
        if picture is last:
            return {}
        found = changes(last, picture) if last else {"whole": picture.whole()}
        said = {"summary": picture.summary} if last is None or last.summary != picture.summary else {}
        return found | said

    async def events(self) -> AsyncIterator[str]:
        """Yield events for as long as the page is open, and leave most of the time to others."""
        silence, clock = 0, asyncio.get_running_loop().time
        while True:
            begin = clock()
            news = self.news()
            silence = 0 if news else silence + 1
            if news:
                yield f"data: {json.dumps(news)}\n\n"
            elif silence % _LONGEST_SILENCE == 0:
                yield ":\n\n"
            await asyncio.sleep(max(_PAUSE, _SHARE * (clock() - begin)))
