"""The HTTP side: find the method, check the request, call its handler, and do what a fault orders."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

import attrs
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gcpx_emulator import page
from gcpx_emulator.compute import (
    bulk_insert,
    catalog,
    disk_attachments,
    disks,
    images,
    instance_settings,
    instance_templates,
    instances,
    machine_images,
    operations,
    outages,
)
from gcpx_emulator.core import orders, policy
from gcpx_emulator.core.clock import Clock
from gcpx_emulator.core.discovery import Method, route
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.failures import Answering, answer_to, parsed
from gcpx_emulator.core.faults import Fault, Faults, Requests
from gcpx_emulator.core.handlers import HANDLERS, Call
from gcpx_emulator.core.masking import cut, parse
from gcpx_emulator.core.merge_patch import merge
from gcpx_emulator.core.operations import Operations
from gcpx_emulator.core.store import Json, Store
from gcpx_emulator.core.uploads import Upload, Uploads
from gcpx_emulator.core.validation import check_path, check_query, clean_body
from gcpx_emulator.oauth2 import tokens
from gcpx_emulator.oauth2.tokens import Signer
from gcpx_emulator.oslogin import ssh_keys
from gcpx_emulator.pubsub import messages, subscriptions
from gcpx_emulator.pubsub.delivery import Pusher
from gcpx_emulator.storage import buckets, objects

SERVICES: Final = (
    bulk_insert,
    buckets,
    catalog,
    disk_attachments,
    disks,
    images,
    instance_settings,
    instance_templates,
    instances,
    machine_images,
    messages,
    objects,
    operations,
    ssh_keys,
    subscriptions,
    tokens,
)
"""Modules that register handlers; named here so that importing the application imports them."""
_LONGEST_WAIT: Final = 120.0
_TALKATIVE: Final = ("pubsub.", "storage.objects.")
"""Methods after which there may be something to push."""
_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE"]


class _Dropped(Response):
    """A connection that ends in the middle of its answer."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
        await send({"type": "http.response.body", "body": b"", "more_body": True})


@attrs.define
class Emulator:
    """One emulator: its data, its operations, its faults.

    Attributes:
        clock: tells the time.
    """

    store: Store = attrs.Factory(Store)
    clock: Clock = attrs.Factory(Clock)
    operations: Operations = attrs.field(
        default=attrs.Factory(lambda self: Operations(self.store, clock=self.clock), takes_self=True)
    )
    faults: Faults = attrs.Factory(Faults)
    requests: Requests = attrs.Factory(Requests)
    signer: Signer = attrs.field(default=attrs.Factory(lambda self: Signer(self.now), takes_self=True))
    uploads: Uploads = attrs.Factory(Uploads)
    pusher: Pusher = attrs.field(
        default=attrs.Factory(lambda self: Pusher(self.store, self.signer, self.now), takes_self=True)
    )

    def now(self) -> float:
        """Tell the time, in seconds since 1970."""
        return self.clock.now()

    def reset(self) -> None:
        """Forget everything but the keys."""
        self.store.reset()
        self.faults.queue.clear()
        self.requests.kept.clear()
        self.pusher.reset()

    def app(self) -> Starlette:
        """Give the application."""
        return Starlette(
            routes=[
                Route("/", self._page),
                Route("/_emulator/faults", self._faults, methods=["GET", "POST", "DELETE"]),
                Route("/_emulator/requests", self._requests, methods=["GET", "DELETE"]),
                Route("/_emulator/limits", self._orders("limits", catalog.LIMITS), methods=["GET", "POST"]),
                Route("/_emulator/outages", self._orders("outages", outages.OUTAGES), methods=["GET", "POST"]),
                Route("/_emulator/policy", self._policy, methods=["GET", "POST"]),
                Route("/_emulator/deliveries", self._deliveries),
                Route("/_emulator/tokens", self._tokens, methods=["POST"]),
                Route("/_emulator/keys/rotate", self._rotate, methods=["POST"]),
                Route("/_emulator/reset", self._reset, methods=["POST"]),
                Route("/_emulator/resources/{path:path}", self._resource, methods=["GET", "PATCH", "DELETE"]),
                Route("/{path:path}", self._api, methods=_METHODS),
            ],
            middleware=[Middleware(Answering)],
            exception_handlers={HTTPException: _unrouted},
        )

    async def _api(self, request: Request) -> Response:
        entry = self.requests.add(request.method, request.url.path, dict(request.query_params), request.headers)
        try:
            method, path = route(request.method, request.scope["raw_path"].decode("latin-1"))
            entry["method"] = method.id
            response = await self._taken(method, path, request, entry)
        except Exception as error:  # noqa: BLE001 - the request log contains every response
            response = answer_to(error, entry["method"] or f"{request.method} {request.url.path}")
        entry["status"] = response.status_code
        return response

    async def _taken(self, method: Method, path: dict[str, str], request: Request, entry: Json) -> Response:
        upload = await self._received(request)
        if isinstance(upload, Response):
            return upload
        entry["body"] = upload.metadata
        response = await self._answer(method, path, request, upload, self.faults.take(method.id))
        if method.id.startswith(_TALKATIVE):
            self.pusher.wake()
        return response

    async def _received(self, request: Request) -> Upload | Response:
        """Read what a request brings: JSON, or an upload."""
        raw = await request.body()
        if "/upload/" in request.url.path:
            return self.uploads.take(request.query_params, request.headers, raw, str(request.url))
        return Upload(parsed(raw), None, "")

    async def _answer(
        self, method: Method, path: dict[str, str], request: Request, upload: Upload, fault: Fault | None
    ) -> Response:
        if fault is not None:
            early = await _early(fault)
            if early is not None:
                return early
        query = request.query_params
        mask = parse(query.get("fields") or query.get("$fields") or "")
        answer = await self._work(method, path, request, upload, fault)
        if fault is not None and fault.drop == "after":
            return _Dropped()
        if answer is None:
            return Response(status_code=204)
        if isinstance(answer, Response):
            return answer
        return JSONResponse(cut(answer, mask))

    async def _work(
        self, method: Method, path: dict[str, str], request: Request, upload: Upload, fault: Fault | None
    ) -> Any:
        query = dict(request.query_params)
        handler = HANDLERS.get(method.id)
        if handler is None:
            raise ApiError(501, f"{method.id} is not emulated")
        check_path(method, path)
        check_query(method, query)
        call = Call(
            store=self.store,
            operations=self.operations,
            method=method.id,
            version=method.version,
            parameters=method.parameters,
            path=path,
            query=query,
            body=clean_body(method, upload.metadata),
            media=upload.media,
            content_type=upload.content_type,
            signer=self.signer,
            now=self.now,
            caller=self.signer.caller(request.headers.get("authorization", "")),
            failure=fault.operation if fault else None,
        )
        policy.check(call)
        self.operations.settle()
        if method.id.startswith("compute.") and method.http_method in {"POST", "DELETE", "PATCH"}:
            replayed = self.operations.replay(path.get("project", ""), query.get("requestId"))
            if replayed is not None:
                return replayed
        if method.id.endswith("Operations.wait"):
            ends = self.operations.ends(path["project"], call.scope, path["operation"])
            clock = self.operations.clock
            await clock.until(min(ends, clock.now() + _LONGEST_WAIT))
            self.operations.settle()
        return handler(call.with_names() if method.id.startswith("compute.") else call)

    async def _page(self, _request: Request) -> Response:
        self.operations.settle()
        return HTMLResponse(
            page.render(self.store.counts(), list(HANDLERS), list(self.requests.kept), list(self.pusher.deliveries))
        )

    async def _faults(self, request: Request) -> Response:
        if request.method == "POST":
            self.faults.queue.append(Fault.parse(orders.parsed("faults", await request.body())))
        elif request.method == "DELETE":
            self.faults.queue.clear()
        return JSONResponse([attrs.asdict(fault) for fault in self.faults.queue])

    async def _requests(self, request: Request) -> Response:
        if request.method == "DELETE":
            self.requests.kept.clear()
        return JSONResponse(list(self.requests.kept))

    def _orders(self, name: str, path: str) -> Callable[[Request], Awaitable[Response]]:
        """Keep what is ordered for all that follows: limits, outages."""

        async def take(request: Request) -> Response:
            if request.method == "POST":
                self.store.put(path, orders.read(name, await request.body()))
            return JSONResponse(self.store.get(path) or {})

        return take

    async def _policy(self, request: Request) -> Response:
        """Take who may do what."""
        if request.method == "POST":
            self.store.put(policy.POLICY, policy.checked(orders.parsed("policy", await request.body())))
        return JSONResponse(self.store.get(policy.POLICY) or policy.OPEN)

    async def _deliveries(self, request: Request) -> Response:
        """List push attempts and their results; `atLeast` waits for that many attempts."""
        at_least = request.query_params.get("atLeast", "0")
        if not re.fullmatch("[0-9]{1,3}", at_least):
            raise ApiError(400, "atLeast must be a number of attempts, 0 to 999")
        return JSONResponse(await self.pusher.attempts(int(at_least)))

    async def _tokens(self, request: Request) -> Response:
        """Sign any claims, for tests of receivers: {"email", "audience", "claims", "iap"}."""
        order = orders.read("tokens", await request.body())
        made = tokens.claims(order.get("email", "pusher@example.com"), order.get("audience", ""), self.now())
        token = self.signer.token(made | order.get("claims", {}), iap=bool(order.get("iap")))
        return JSONResponse({"token": token})

    async def _rotate(self, request: Request) -> Response:
        """Rotate the signing keys."""
        orders.read("keys/rotate", await request.body())
        self.signer.rotate()
        return JSONResponse({})

    async def _reset(self, request: Request) -> Response:
        orders.read("reset", await request.body())
        self.reset()
        return JSONResponse({})

    async def _resource(self, request: Request) -> Response:
        """Look at a resource or change it behind the API's back, as drift would: RFC 7396 merge."""
        path = request.path_params["path"]
        self.operations.settle()
        found = self.store.get(path)
        if found is None:
            raise ApiError(404, f"{path} does not exist")
        if request.method == "DELETE":
            self.store.delete(path)
        elif request.method == "PATCH":
            found = merge(found, orders.read_change(await request.body()))
            self.store.put(path, found)
        return JSONResponse(found)


async def _unrouted(request: Request, error: Exception) -> Response:
    """Answer what no route takes: a method that no API has, or a path that no URL of Google's is."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = f"{request.method} {request.url.path} is no call of any API that is emulated"
    return JSONResponse(ApiError(status, words).body(), status)


async def _early(fault: Fault) -> Response | None:
    """Do what a fault orders instead of the work."""
    await asyncio.sleep(fault.delay)
    if fault.drop == "before":
        return _Dropped()
    if fault.body is not None:
        return Response(fault.body, fault.status or 200, media_type="application/json")
    if fault.status is None:
        return None
    headers = {"Retry-After": str(fault.retry_after)} if fault.retry_after is not None else {}
    return JSONResponse(ApiError(fault.status, fault.message, fault.reason).body(), fault.status, headers)
