"""Operations of every scope: read, waited for and listed."""

from __future__ import annotations

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.lists import aggregate, list_page
from gcpx_emulator.compute.locations import SCOPES, check_location
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import Page, in_order, page_of


@handles("compute.globalOperations.get", "compute.regionOperations.get", "compute.zoneOperations.get")
def get_operation(call: Call) -> Json:
    """Read an operation."""
    return call.cloud.operations.get(call.path["project"], call.scope, call.path["operation"])


@handles("compute.globalOperations.wait", "compute.regionOperations.wait", "compute.zoneOperations.wait")
async def wait_for_operation(call: Call) -> Json:
    """Read an operation once it has ended, or after two minutes."""
    await call.cloud.operations.wait(call.path["project"], call.scope, call.path["operation"])
    return get_operation(call)


@handles("compute.globalOperations.list", "compute.regionOperations.list", "compute.zoneOperations.list")
def list_operations(call: Call) -> Json:
    """List the operations of a scope."""
    check_location(call)
    operations, project, scope = call.cloud.operations, call.path["project"], call.scope

    def page() -> Page:
        return page_of(
            lambda last: ((item["name"], item) for item in operations.list(project, scope, last)), call.query
        )

    return list_page(call, "compute#operationList", f"{call.parent}/operations", page)


@handles("compute.globalOperations.aggregatedList")
def list_operations_of_all_scopes(call: Call) -> Json:
    """List the operations of all scopes, each scope's by name."""
    operations, project = call.cloud.operations, call.path["project"]

    def page(collections: list[str]) -> Page:
        found = {
            f"{path}/{item['name']}": item
            for path in collections
            for item in operations.list(project, path.removeprefix(f"{call.project}/").removesuffix("/operations"))
        }
        return page_of(in_order(found), call.query)

    return aggregate(call, "operations", "compute#operationAggregatedList", SCOPES, page)
