"""The pages of the console."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

import attrs
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from gcpx_emulator.console import controls, panels, resources
from gcpx_emulator.console.fleets import REPORTED, Fleets
from gcpx_emulator.console.live import FLEETS, Page
from gcpx_emulator.console.markup import Html, address, joined, link, tag, void
from gcpx_emulator.emulator import Emulator

_POLICY: Final = (
    "default-src 'none'; base-uri 'none'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "img-src data:; script-src 'self'; style-src 'self'"
)
"""What pages may load; nothing on them may be part of a page of another site."""
_HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_PAGES: Final = {
    "/": "Fleets",
    "/console/resources": "Resources",
    "/console/requests": "Requests",
    "/console/pushes": "Pushes",
    "/console/controls": "Controls",
    "/console/methods": "Methods",
}
_FILES: Final = {"console.css": "text/css", "console.js": "text/javascript"}
_ICON: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E%3Cg fill='%231a7f37'%3E"
    "%3Crect width='3.5' height='3.5' rx='1'/%3E%3Crect x='4.5' width='3.5' height='3.5' rx='1'/%3E"
    "%3Crect y='4.5' width='3.5' height='3.5' rx='1'/%3E%3C/g%3E"
    "%3Crect x='4.5' y='4.5' width='3.5' height='3.5' rx='1' fill='%23bf8700'/%3E%3C/svg%3E"
)


@attrs.frozen
class Console:
    """The console of an emulator."""

    emulator: Emulator
    _fleets: Fleets

    @classmethod
    def of(cls, emulator: Emulator) -> Console:
        """Return the console of an emulator."""
        return cls(emulator, Fleets(emulator.store))

    def routes(self) -> list[Route]:
        """Return the route of every page."""
        return [
            Route("/", self._overview),
            Route("/console/resources", self._resources),
            Route("/console/resource", self._resource),
            Route("/console/requests", self._requests),
            Route("/console/pushes", self._pushes),
            Route("/console/controls", self._controls),
            Route("/console/methods", self._methods),
            Route("/console/events", self._events),
            *(Route(f"/console/{name}", _file(name, kind)) for name, kind in _FILES.items()),
        ]

    async def _overview(self, request: Request) -> Response:
        self.emulator.operations.settle()
        picture = self._fleets.look()
        fleets = tag("div", picture.whole(), id=FLEETS)
        aside = joined(self._panel("operations", "Operations"), self._panel("latest", "Latest requests"))
        aside = joined(aside, self._panel("resources", "Resources"))
        body = joined(
            tag("section", _legend(), fleets, class_="main", aria_label="Fleets"),
            tag("div", aside, class_="aside"),
            tag("p", picture.summary, id="summary", class_="unseen", role="status", aria_live="polite"),
        )
        parts, content = f"{FLEETS},operations,latest,resources", tag("div", body, class_="overview")
        return _page(request, "Fleets by zone", content, parts, picture=picture.version)

    def _panel(self, name: str, title: str, query: panels.Query | None = None, below: Html | str = "") -> Html:
        content = panels.PANELS[name](self.emulator, query or {})
        return tag("section", tag("h2", title), tag("div", content, id=name), below, class_="panel", aria_label=title)

    async def _resources(self, request: Request) -> Response:
        self.emulator.operations.settle()
        collection = request.query_params.get("of", "")
        if not collection:
            return _page(request, "Resources", self._panel("resources", "By project and kind"), "resources")
        content = resources.listed(self.emulator.store, collection, request.query_params.get("after", ""))
        return _page(request, collection, content)

    async def _resource(self, request: Request) -> Response:
        self.emulator.operations.settle()
        path = request.query_params.get("path", "")
        content = resources.resource(self.emulator.store, path)
        title = path.rpartition("/")[2] or "Resource"
        if content is None:
            words = tag("p", tag("code", path), " does not exist.", class_="empty")
            return _page(request, title, words, status=404)
        return _page(request, title, content)

    async def _requests(self, request: Request) -> Response:
        query = request.query_params
        return _page(
            request,
            "Requests",
            joined(panels.filters(query), self._panel("requests", "The latest first", query)),
            "requests",
        )

    async def _pushes(self, request: Request) -> Response:
        return _page(request, "Pushes", self._panel("pushes", "Attempts, the latest first"), "pushes")

    async def _controls(self, request: Request) -> Response:
        clock = self._panel("clock", "Clock", below=controls.clock())
        faults = self._panel("faults", "Faults", below=controls.fault())
        return _page(request, "Controls", joined(clock, faults, controls.settings(self.emulator)), "clock,faults")

    async def _methods(self, request: Request) -> Response:
        return _page(
            request, "Methods", tag("section", panels.methods(), class_="panel", aria_label="Emulated methods")
        )

    async def _events(self, request: Request) -> Response:
        query = dict(request.query_params)
        parts = query.pop("parts", "").split(",")
        shown, picture = query.pop("picture", ""), self._fleets.picture
        page = Page(self.emulator, self._fleets, parts, query, picture if picture.version == shown else None)
        return StreamingResponse(page.events(), media_type="text/event-stream", headers=dict(_HEADERS))


def _file(name: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    content = (Path(__file__).parent / name).read_bytes()

    async def file(_: Request) -> Response:
        return Response(content, media_type=kind, headers=dict(_HEADERS))

    return file


def _legend() -> Html:
    names = {
        "provisioning": "provisioning",
        "running": "running",
        "running reported": REPORTED,
        "stopping": "stopping",
        "terminated": "stopped",
        "terminated event": "interrupted",
        "running old": "older generation",
    }
    items = (tag("li", tag("i", class_=f"tile {name}"), words) for name, words in names.items())
    return tag("ul", *items, class_="legend", aria_label="Legend")


def _page(
    request: Request, title: str, content: Html, parts: str = "", status: int = 200, picture: str = ""
) -> Response:
    """Write a page; `parts` are those that change by themselves, and `picture` is the version of the fleets on it."""
    current = request.url.path if request.url.path in _PAGES else "/console/resources"
    entries = (
        tag("li", tag("a", words, href=path, aria_current="page" if path == current else None))
        for path, words in _PAGES.items()
    )
    query = {**request.query_params, "parts": parts, "picture": picture}
    events = address("/console/events", **query) if parts else None
    brand = tag("a", "gcpx emulator", href="/", class_="brand")
    header = tag(
        "header", brand, tag("nav", tag("ul", *entries), aria_label="Pages"), tag("span", id="state"), class_="top"
    )
    head = joined(
        void("meta", charset="utf-8"),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="color-scheme", content="light dark"),
        tag("title", title, " · gcpx emulator"),
        void("link", rel="icon", href=Html(_ICON)),
        void("link", rel="stylesheet", href="/console/console.css"),
        tag("script", src="/console/console.js", defer=True),
    )
    skip = link("To the content", "#content")
    body = joined(tag("div", skip, class_="skip"), header, tag("main", tag("h1", title), content, id="content"))
    body = joined(body, tag("footer", "Google Cloud's REST APIs on this machine. No data leaves it."))
    html = tag("html", tag("head", head), tag("body", body, data_events=events), lang="en")
    return HTMLResponse(f"<!doctype html>{html}", status, dict(_HEADERS))
