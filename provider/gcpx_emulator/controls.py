"""The endpoints at `/_emulator`, with which tests control and inspect the emulator."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from typing import Any, Final

import attrs
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gcpx_emulator.compute.interruptions import record_deletion
from gcpx_emulator.core.call import HANDLERS
from gcpx_emulator.core.clock import LATEST, timestamp
from gcpx_emulator.core.controls import (
    ACTIONS,
    SETTINGS,
    SWITCH,
    TEXT,
    Action,
    ControlBody,
    Field,
    Setting,
    check_object,
    did_you_mean,
    is_duration,
    is_object,
    read_body,
)
from gcpx_emulator.core.discovery import kinds
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.faults import Fault, check_method
from gcpx_emulator.core.json_data import merge
from gcpx_emulator.core.signing import id_token_claims, proxy_claims
from gcpx_emulator.core.store import StateError
from gcpx_emulator.emulator import Emulator

_TOKEN: Final = ControlBody(
    "tokens", {"email": TEXT, "audience": TEXT, "claims": Field("an object", is_object), "iap": SWITCH}
)
_PROXY_AUDIENCE: Final = re.compile(
    r"/projects/[0-9]+/(?:apps/[^/]+|global/backendServices/[0-9]+|locations/[^/]+/services/[^/]+)"
)
_PROXY_AUDIENCES: Final = (
    "/projects/NUMBER/apps/PROJECT, /projects/NUMBER/global/backendServices/ID or "
    "/projects/NUMBER/locations/REGION/services/NAME"
)
"""The audiences of Identity-Aware Proxy: an application of App Engine, a backend service, or a service of Cloud Run."""
_ROTATION: Final = ControlBody("keys/rotate")
_LONGEST_ADVANCE: Final = 1_000_000_000
"""The longest advance of the clock in seconds, about 31 years."""
_CLOCK: Final = ControlBody(
    "clock",
    {
        "advance": Field(
            f"a number of seconds, at most {_LONGEST_ADVANCE}",
            lambda value: is_duration(value) and value <= _LONGEST_ADVANCE,
        )
    },
)
_RESET: Final = ControlBody("reset")
_OPERATIONS: Final = "operations"
"""The kind of resources that no method creates by itself."""
_OBJECTS: Final = "/o/"
"""The part between the bucket and the name in the path of an object."""
_QUERIES: Final = {"deliveries": ("atLeast",), "faults": ("name",), "requests": ("method",), "resources": ("kind",)}
"""The query parameters of endpoints."""
_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_Endpoint = Callable[[Request], Awaitable[Response]]


def _checked(path: str, endpoint: _Endpoint, allowed: Collection[str]) -> _Endpoint:
    """Refuse query parameters that an endpoint does not have."""

    async def checked(request: Request) -> Response:
        unknown = sorted(request.query_params.keys() - set(allowed))
        if unknown:
            may = f"it may have {', '.join(allowed)}" if allowed else "it has none"
            raise ApiError(400, f"/_emulator/{path} has unknown query parameters: {', '.join(unknown)}; {may}")
        return await endpoint(request)

    return checked


def _refusal(endpoints: Mapping[str, list[str]]) -> _Endpoint:
    """Refuse a request to a path without an endpoint, or with a method that the endpoint does not have."""

    async def refuse(request: Request) -> Response:
        path = request.path_params["path"]
        if path in endpoints:
            methods = " or ".join(endpoints[path])
            raise ApiError(405, f"{request.method} is not allowed on /_emulator/{path}; {methods} is")
        raise ApiError(
            404,
            f"/_emulator/{path} is not a control request"
            f"{did_you_mean(path, [name for name in endpoints if '{' not in name])}",
        )

    return refuse


@attrs.frozen
class Controls:
    """The controls of an emulator."""

    emulator: Emulator

    def routes(self) -> list[Route]:
        """Return the route of every endpoint."""
        endpoints = list(self._endpoints())
        allowed = {path: methods for path, _, methods in endpoints}
        return [
            *(
                Route(f"/_emulator/{path}", _checked(path, endpoint, _QUERIES.get(path, ())), methods=methods)
                for path, endpoint, methods in endpoints
            ),
            Route("/_emulator/{path:path}", _refusal(allowed), methods=_METHODS),
        ]

    def _endpoints(self) -> Iterator[tuple[str, _Endpoint, list[str]]]:
        """Yield the path of every endpoint below `/_emulator`, and its HTTP methods."""
        yield from [
            ("faults", self._faults, ["GET", "POST", "DELETE"]),
            ("requests", self._requests, ["GET", "DELETE"]),
            ("traffic", self._traffic, ["GET"]),
            ("rates", self._rates, ["GET", "POST"]),
            ("deliveries", self._deliveries, ["GET"]),
            ("tokens", self._sign_token, ["POST"]),
            ("keys/rotate", self._rotate_keys, ["POST"]),
            ("reset", self._reset, ["POST"]),
            ("clock", self._clock, ["GET", "POST"]),
            ("state", self._state, ["GET", "PUT"]),
            ("resources", self._resources, ["GET"]),
            ("resources/{path:path}", self._resource, ["GET", "PATCH", "DELETE"]),
            # An action takes precedence over a setting of the same name, which is then read-only.
            *((action.body.name, self._action(action), ["POST"]) for action in ACTIONS),
            *((setting.name, self._setting(setting), ["GET", "POST"]) for setting in SETTINGS),
        ]

    async def _faults(self, request: Request) -> Response:
        """Inject a fault, list the remaining faults, or remove all of them or those with one name."""
        faults = self.emulator.faults
        if request.method == "POST":
            faults.queue.append(Fault.read(await request.body()))
        elif request.method == "DELETE":
            faults.remove(request.query_params.get("name"))
        return JSONResponse([attrs.asdict(fault) for fault in faults.queue])

    async def _requests(self, request: Request) -> Response:
        """List the latest requests, all or those of a method such as `compute.instances.insert`; or remove all."""
        log, method = self.emulator.requests, request.query_params.get("method")
        if method is not None:
            check_method("requests", method)
        if request.method == "DELETE":
            log.clear()
        return JSONResponse([entry for entry in log.kept if method in {None, entry["method"]}])

    async def _traffic(self, _: Request) -> Response:
        """Add up the requests of each method since they were last removed."""
        return JSONResponse({name: attrs.asdict(total) for name, total in self.emulator.requests.traffic.items()})

    async def _rates(self, request: Request) -> Response:
        """Set the rate quotas, or read them with the numbers of requests."""
        if request.method == "POST":
            self.emulator.rates.set(await request.body())
        return JSONResponse(self.emulator.rates.show())

    def _setting(self, setting: Setting) -> _Endpoint:
        """Set a setting, or read it."""

        async def endpoint(request: Request) -> Response:
            store = self.emulator.store
            if request.method == "POST":
                setting.write(store, read_body(setting.name, await request.body()))
            return JSONResponse(setting.read(store))

        return endpoint

    def _action(self, action: Action) -> _Endpoint:
        """Trigger an event in the simulated cloud."""

        async def endpoint(request: Request) -> Response:
            fields = action.body.read(await request.body())
            self.emulator.operations.settle()
            with self.emulator.store.transaction():
                return JSONResponse(action.run(self.emulator.cloud, fields))

        return endpoint

    async def _deliveries(self, request: Request) -> Response:
        """List the attempts to push messages; `atLeast` waits for that many."""
        at_least = request.query_params.get("atLeast", "0")
        if not re.fullmatch("[0-9]{1,3}", at_least):
            raise ApiError(400, "atLeast must be a number of attempts, 0 to 999")
        return JSONResponse(await self.emulator.pusher.attempts(int(at_least)))

    async def _sign_token(self, request: Request) -> Response:
        """Sign a token with any claims, for tests of receivers."""
        fields = _TOKEN.read(await request.body())
        email, audience = fields.get("email", "pusher@example.com"), fields.get("audience", "")
        is_proxy = fields.get("iap", False)
        if is_proxy and not _PROXY_AUDIENCE.fullmatch(audience):
            raise ApiError(400, f"With iap, 'audience' must be {_PROXY_AUDIENCES}.")
        claims_of = proxy_claims if is_proxy else id_token_claims
        claims = claims_of(email, audience, self.emulator.now()) | fields.get("claims", {})
        return JSONResponse({"token": self.emulator.signer.token(claims, iap=is_proxy)})

    async def _rotate_keys(self, request: Request) -> Response:
        """Replace the signing keys."""
        _ROTATION.read(await request.body())
        self.emulator.signer.rotate()
        return JSONResponse({})

    async def _reset(self, request: Request) -> Response:
        """Return to the initial state; only the signing keys are kept."""
        _RESET.read(await request.body())
        self.emulator.reset()
        return JSONResponse({})

    async def _clock(self, request: Request) -> Response:
        """Advance the emulator's clock, or read it."""
        if request.method == "POST":
            seconds = _CLOCK.read(await request.body()).get("advance", 0.0)
            if self.emulator.now() + seconds > LATEST:
                raise ApiError(400, "the clock cannot show times after the year 9000; reset the emulator")
            self.emulator.advance(seconds)
        return JSONResponse({"time": timestamp(self.emulator.now())})

    async def _state(self, request: Request) -> Response:
        """Return everything in the format of the file of `--data`, or replace everything by what was returned."""
        if request.method == "PUT":
            try:
                self.emulator.load(await request.body())
            except StateError as error:
                what = "The body of a PUT to /_emulator/state must be what a GET has returned, or a file of --data"
                raise ApiError(400, f"{what}: {error}.") from None
            return JSONResponse(self.emulator.store.counts())
        self.emulator.operations.settle()
        return Response(self.emulator.store.save(), media_type="application/vnd.sqlite3")

    async def _resources(self, request: Request) -> Response:
        """List the resources of a kind, such as `instances`, by path; or count those of every kind."""
        self.emulator.operations.settle()
        kind = request.query_params.get("kind")
        store = self.emulator.store
        if kind is None:
            return JSONResponse(store.counts())
        self._check_kind(kind)
        return JSONResponse(dict(store.of_kind(kind)))

    def _check_kind(self, kind: str) -> None:
        """Refuse a kind that no resource can have."""
        known = {*kinds(HANDLERS), _OPERATIONS, *self.emulator.store.counts()}
        if kind not in known:
            hint = did_you_mean(kind, known, "a kind is the last part of a collection's path, such as instances")
            raise ApiError(400, f"/_emulator/resources: {kind} is not a kind of resources{hint}")

    async def _resource(self, request: Request) -> Response:
        """Read, patch (RFC 7396) or delete a resource without using its API, which causes drift."""
        store, path = self.emulator.store, request.path_params["path"]
        self.emulator.operations.settle()
        resource: Any = store.get(path)
        if resource is None:
            if _OBJECTS not in path:  # whose names may have slashes
                self._check_kind("/".join(path.split("/")[-2:-1]))
            raise ApiError(404, f"{path} does not exist")
        if request.method == "DELETE":
            with store.transaction():
                store.delete(path)
                record_deletion(self.emulator.cloud, resource)
        elif request.method == "PATCH":
            change = check_object("resources", read_body("resources", await request.body()))
            resource = merge(resource, change)
            store.put(path, resource)
        return JSONResponse(resource)
