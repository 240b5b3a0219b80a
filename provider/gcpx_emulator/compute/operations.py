"""Compute: operations of every scope."""

from __future__ import annotations

from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.listing import listing
from gcpx_emulator.core.store import Json


@handles(*(f"compute.{kind}Operations.{verb}" for kind in ("global", "region", "zone") for verb in ("get", "wait")))
def get_operation(call: Call) -> Json:
    """Read an operation; `wait` has waited before it comes here."""
    return call.operations.get(call.path["project"], call.scope, call.path["operation"])


@handles("compute.globalOperations.list", "compute.regionOperations.list", "compute.zoneOperations.list")
def list_operations(call: Call) -> Json:
    """List the operations of a scope."""
    items = call.operations.list(call.path["project"], call.scope)
    return listing("compute#operationList", f"{call.parent}/operations", items, call.query, call.base)
