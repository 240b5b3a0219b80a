"""Operations of every scope: read, waited for and listed."""

from __future__ import annotations

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.lists import list_items
from gcpx_emulator.core.json_data import Json


@handles("compute.globalOperations.get", "compute.regionOperations.get", "compute.zoneOperations.get")
def get_operation(call: Call) -> Json:
    """Read an operation."""
    return call.operations.get(call.path["project"], call.scope, call.path["operation"])


@handles("compute.globalOperations.wait", "compute.regionOperations.wait", "compute.zoneOperations.wait")
async def wait_for_operation(call: Call) -> Json:
    """Read an operation once it has ended, or after two minutes."""
    await call.operations.wait(call.path["project"], call.scope, call.path["operation"])
    return get_operation(call)


@handles("compute.globalOperations.list", "compute.regionOperations.list", "compute.zoneOperations.list")
def list_operations(call: Call) -> Json:
    """List the operations of a scope."""
    items = call.operations.list(call.path["project"], call.scope)
    return list_items(call, "compute#operationList", f"{call.parent}/operations", items)
