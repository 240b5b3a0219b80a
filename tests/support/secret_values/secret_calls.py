"""Calls of the engine with a planted secret while Google's responses quote it, and everything that comes out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import attrs
import grpc
from engines import driver
from engines.driver import Engine, Resource, failing, plain, rpc, struct
from secret_values.planted_secrets import without_secrets
from servers.emulated import Emulated

_LONG: Final = "x" * 280
"""Makes a body so long that its quotation is cut inside the secret."""


def _error(quoted: str) -> dict[str, Any]:
    return {"status": 400, "message": f"Invalid value for field 'resource': {quoted}. Must be another value."}


def _structured(quoted: str) -> dict[str, Any]:
    details = [
        {"reason": quoted, "help": {"links": [{"url": f"https://example.com/?value={quoted}", "description": quoted}]}},
        {"quotaInfo": {"metricName": quoted, "dimensions": {quoted: quoted}, "limit": quoted}},
    ]
    return {"status": 400, "body": json.dumps({"error": {"message": quoted, "status": quoted, "details": details}})}


def _operation(quoted: str) -> dict[str, Any]:
    error = {"code": "INVALID", "location": quoted, "message": quoted}
    return {"operation": {"errors": [error], "httpErrorMessage": quoted}}


FAULTS: Final[dict[str, Callable[[str], dict[str, Any]]]] = {
    "error": _error,
    "details": _structured,
    "operation": _operation,
    "text": lambda quoted: {"status": 400, "body": f"Bad request: {quoted}"},
    "long text": lambda quoted: {"status": 400, "body": f"{_LONG}{quoted}"},
    "conflict": lambda quoted: _error(quoted) | {"status": 409},
    "missing": lambda quoted: _error(quoted) | {"status": 404},
    "permission": lambda quoted: _error(quoted) | {"status": 403},
    "outage": lambda quoted: _error(quoted) | {"status": 503},
    "wrong types": lambda quoted: {"body": json.dumps({"items": quoted, "name": {quoted: quoted}, "status": [quoted]})},
}
"""Faults of the emulator that quote a value, as the arguments of `Emulated.fail`."""


@attrs.frozen
class Planting:
    """A planted secret in the inputs of a resource, and the resource as it was created without it."""

    resource: Resource
    inputs: dict[str, Any]

    @property
    def token(self) -> str:
        """The resource's type token."""
        return self.resource.urn.split("::")[2]

    @property
    def outputs(self) -> dict[str, Any]:
        """The outputs of a state that holds the secret."""
        return self.resource.outputs | self.inputs


def _check(engine: Engine, planting: Planting) -> Any:
    return engine.check(planting.token, "web", planting.inputs, planting.resource.inputs)


def _preview(engine: Engine, planting: Planting) -> Any:
    return engine.stub.Create(
        rpc.CreateRequest(urn=planting.resource.urn, properties=struct(planting.inputs), preview=True)
    )


def _create(engine: Engine, planting: Planting) -> Any:
    return engine.stub.Create(rpc.CreateRequest(urn=planting.resource.urn, properties=struct(planting.inputs)))


def _diff(engine: Engine, planting: Planting) -> Any:
    return engine.diff_checked(planting.resource, planting.inputs)


def _diff_back(engine: Engine, planting: Planting) -> Any:
    planted = attrs.evolve(planting.resource, inputs=planting.inputs, outputs=planting.outputs)
    return engine.diff_checked(planted, planting.resource.inputs)


def _update_request(planting: Planting, **more: Any) -> Any:
    before = planting.resource
    return rpc.UpdateRequest(
        id=before.id, urn=before.urn, olds=struct(before.outputs), old_inputs=struct(before.inputs),
        news=struct(planting.inputs), **more,
    )  # fmt: skip


def _update(engine: Engine, planting: Planting) -> Any:
    return engine.stub.Update(_update_request(planting))


def _preview_update(engine: Engine, planting: Planting) -> Any:
    return engine.stub.Update(_update_request(planting, preview=True))


def _update_back(engine: Engine, planting: Planting) -> Any:
    before = planting.resource
    return engine.stub.Update(
        rpc.UpdateRequest(
            id=before.id, urn=before.urn, olds=struct(planting.outputs), old_inputs=struct(planting.inputs),
            news=struct(before.inputs),
        )
    )  # fmt: skip


def _read(engine: Engine, planting: Planting) -> Any:
    before = planting.resource
    return engine.stub.Read(
        rpc.ReadRequest(
            id=before.id, urn=before.urn, properties=struct(planting.outputs), inputs=struct(planting.inputs)
        )
    )


def _delete(engine: Engine, planting: Planting) -> Any:
    before = planting.resource
    return engine.stub.Delete(
        rpc.DeleteRequest(
            id=before.id, urn=before.urn, properties=struct(planting.outputs), old_inputs=struct(planting.inputs)
        )
    )


VERBS: Final[dict[str, Callable[[Engine, Planting], Any]]] = {
    "check": _check,
    "preview": _preview,
    "create": _create,
    "diff": _diff,
    "diff back": _diff_back,
    "update": _update,
    "preview update": _preview_update,
    "update back": _update_back,
    "read": _read,
    "delete": _delete,
}
"""The calls of the engine about a resource."""


@attrs.define
class Observer:
    """Makes calls and records everything that leaves the plugin."""

    engine: Engine
    cloud: Emulated

    def said(self, call: Callable[[], Any], fault: dict[str, Any] | None = None) -> str:
        """Make a call, with a fault in every request of it; return what comes out, without what is marked secret."""
        self.engine.log.messages.clear()
        self.cloud.emulator.faults.queue.clear()
        if fault is not None:
            self.cloud.fail("*", times=50, **fault)
        try:
            came = self._response(call())
        except grpc.RpcError:
            with failing() as failed:
                raise
            came = self._error(failed[0])
        return "\n".join([*came, *(text for *_, text in self.engine.log.messages)])

    @staticmethod
    def _error(failed: driver.Failed) -> list[str]:
        partial = failed.partial
        if partial is None:
            return [failed.message]
        state = [_shown(partial.inputs), _shown(partial.properties)]
        return [failed.message, *partial.reasons, *state]

    def _response(self, response: Any) -> list[str]:
        """Write a response, without the ID, which the protocol cannot mark as secret."""
        if isinstance(response, list):
            return [line for item in response for line in self._response(item)]
        return [
            _shown(value) if hasattr(value, "fields") else str(value)
            for field, value in response.ListFields()
            if field.name not in ("id", "return")
        ] + ([_shown(getattr(response, "return"))] if hasattr(response, "return") else [])


def _shown(properties: Any) -> str:
    return json.dumps(without_secrets(plain(properties)), ensure_ascii=False)
