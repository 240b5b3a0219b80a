"""What every project has without making it: regions, zones, machine and disk types, a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs

from gcpx_emulator.compute.outages import scope_warning, without_quotas
from gcpx_emulator.core.errors import not_found
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.listing import answer, listing, page
from gcpx_emulator.core.store import Json

LIMITS: Final = "limits/all"
"""Where orders of `/_emulator/limits` are kept: {"zones": {ZONE: free}, "instances": {REGION: quota}}."""
_MADE: Final = "2024-01-01T00:00:00.000-08:00"
ZONES: Final = {"europe-west1": ("b", "c", "d"), "us-central1": ("a", "b", "c", "f"), "us-east1": ("b", "c", "d")}
MACHINES: Final = {
    "e2-micro": (2, 1024),
    "e2-small": (2, 2048),
    "e2-medium": (2, 4096),
    "e2-standard-2": (2, 8192),
    "e2-standard-4": (4, 16384),
    "n1-standard-1": (1, 3840),
    "n2-standard-2": (2, 8192),
    "n2-standard-4": (4, 16384),
    "c3-standard-4": (4, 16384),
    "g2-standard-4": (4, 16384),
}
DISKS: Final = (
    "hyperdisk-balanced",
    "hyperdisk-extreme",
    "hyperdisk-ml",
    "hyperdisk-throughput",
    "local-ssd",
    "pd-balanced",
    "pd-extreme",
    "pd-ssd",
    "pd-standard",
)
_QUOTAS: Final = {"CPUS": 1000, "DISKS_TOTAL_GB": 40960, "INSTANCES": 2000, "IN_USE_ADDRESSES": 500}


def _number(name: str) -> str:
    """Make up an ID that is the same at every look."""
    return str(10**17 + sum(ord(letter) * 131**place for place, letter in enumerate(name)) % 10**17)


def item(call: Call, kind: str, scope: str, name: str, **rest: Any) -> Json:
    """Describe something that every project has."""
    path = f"projects/{call.path['project']}/{scope}/{name}"
    link = f"{call.base}/{path}"
    head = {"kind": f"compute#{kind}", "id": _number(path), "name": name, "creationTimestamp": _MADE}
    return head | {"selfLink": link} | rest


def _region_quotas(call: Call, name: str) -> list[Json]:
    """Count what is used, against limits that may have been ordered."""
    project = f"projects/{call.path['project']}"
    zones = [f"{project}/zones/{name}-{letter}/instances" for letter in ZONES[name]]
    machines = [found["machineType"].rpartition("/")[2] for _, found in call.store.scan(zones)]
    used = {"INSTANCES": len(machines), "CPUS": sum(MACHINES.get(machine, (1, 0))[0] for machine in machines)}
    ordered = (call.store.get(LIMITS) or {}).get("instances", {}).get(name)
    limits = _QUOTAS | ({"INSTANCES": ordered} if ordered is not None else {})
    return [{"metric": metric, "limit": limit, "usage": used.get(metric, 0)} for metric, limit in limits.items()]


def region(call: Call, name: str) -> Json:
    """Describe a region."""
    zones = [f"{call.base}/projects/{call.path['project']}/zones/{name}-{letter}" for letter in ZONES[name]]
    quotas = _region_quotas(call, name)
    rest = {"status": "UP", "description": name, "zones": zones, "quotas": quotas, "supportsPzs": False}
    return without_quotas(call, item(call, "region", "regions", name, **rest))


def _zone(call: Call, name: str) -> Json:
    link = f"{call.base}/projects/{call.path['project']}/regions/{name.rpartition('-')[0]}"
    return item(call, "zone", "zones", name, status="UP", description=name, region=link)


def zone_names() -> list[str]:
    """Name every zone."""
    return [f"{region_name}-{letter}" for region_name, letters in ZONES.items() for letter in letters]


def every_scope() -> list[str]:
    """Name every scope of a project."""
    return ["global", *(f"regions/{name}" for name in ZONES), *(f"zones/{name}" for name in zone_names())]


def _machine(call: Call, name: str) -> Json:
    processors, memory = MACHINES[name]
    rest = {"guestCpus": processors, "memoryMb": memory, "zone": call.path["zone"], "isSharedCpu": "e2-m" in name}
    return item(call, "machineType", f"zones/{call.path['zone']}/machineTypes", name, **rest)


def _disk(call: Call, name: str) -> Json:
    return item(call, "diskType", f"zones/{call.path['zone']}/diskTypes", name, zone=call.path["zone"])


def _network(call: Call, name: str) -> Json:
    names = [f"{call.base}/projects/{call.path['project']}/regions/{where}/subnetworks/{name}" for where in ZONES]
    rest = {"autoCreateSubnetworks": True, "subnetworks": names, "routingConfig": {"routingMode": "REGIONAL"}}
    return item(call, "network", "global/networks", name, **rest)


def _subnetwork(call: Call, name: str) -> Json:
    where = call.path["region"]
    network = f"{call.base}/projects/{call.path['project']}/global/networks/default"
    place = f"{call.base}/projects/{call.path['project']}/regions/{where}"
    octet = 128 + 4 * list(ZONES).index(where)
    rest = {"network": network, "region": place, "ipCidrRange": f"10.{octet}.0.0/20", "stackType": "IPV4_ONLY"}
    return item(call, "subnetwork", f"regions/{where}/subnetworks", name, **rest)


def check_place(call: Call) -> None:
    """Refuse a region or zone that does not exist."""
    for name, known in (("region", list(ZONES)), ("zone", zone_names())):
        if name in call.path and call.path[name] not in known:
            raise not_found(f"projects/{call.path['project']}/{name}s/{call.path[name]}")


def _register(
    collection: str, parameter: str, names: Callable[[Call], Any], describe: Callable[[Call, str], Json]
) -> None:
    """Register `get` and `list` of a collection that never changes."""

    @handles(f"compute.{collection}.get")
    def get(call: Call) -> Json:
        wanted = call.path[parameter]
        if parameter not in {"region", "zone"}:
            check_place(call)
        for name in names(call):
            found = describe(call, name) if wanted == name or wanted.isdecimal() else {}
            if wanted in {found.get("name"), found.get("id")}:
                return found
        raise not_found(f"{_where(call, collection)}/{wanted}")

    @handles(f"compute.{collection}.list")
    def list_(call: Call) -> Json:
        check_place(call)
        items = [describe(call, name) for name in names(call)]
        return listing(f"compute#{parameter}List", _where(call, collection), items, call.query, call.base)


def _where(call: Call, collection: str) -> str:
    """Give the path of a collection; regions and zones belong to the project, not to one of its scopes."""
    project = f"projects/{call.path['project']}"
    return f"{project if collection in {'regions', 'zones'} else call.parent}/{collection}"


_register("regions", "region", lambda _: list(ZONES), region)
_register("machineTypes", "machineType", lambda _: list(MACHINES), _machine)
_register("diskTypes", "diskType", lambda _: list(DISKS), _disk)
_register("networks", "network", lambda _: ["default"], _network)
_register("subnetworks", "subnetwork", lambda _: ["default"], _subnetwork)
_register("zones", "zone", lambda _: zone_names(), _zone)


@handles("compute.machineTypes.aggregatedList")
def aggregate_machines(call: Call) -> Json:
    """List the machine types of every zone; all zones have the same."""
    path = f"projects/{call.path['project']}/aggregated/machineTypes"
    groups: Json = {}
    for zone in zone_names():
        within = attrs.evolve(call, path={**call.path, "zone": zone})
        items, _ = page([_machine(within, name) for name in MACHINES], call.query)
        warning = scope_warning(
            "NO_RESULTS_ON_PAGE", f"There are no results for scope 'zones/{zone}'.", f"zones/{zone}"
        )
        groups[f"zones/{zone}"] = {"machineTypes": items} if items else {"warning": warning}
    return answer("compute#machineTypeAggregatedList", path, call.base, None) | {"items": groups}


@handles("compute.projects.get")
def project(call: Call) -> Json:
    """Describe a project; every one exists."""
    name = call.path["project"]
    return {
        "kind": "compute#project",
        "id": _number(name),
        "name": name,
        "creationTimestamp": _MADE,
        "selfLink": f"{call.base}/projects/{name}",
        "defaultNetworkTier": "PREMIUM",
        "defaultServiceAccount": f"{_number(name)[:12]}-compute@developer.gserviceaccount.com",
        "quotas": [{"metric": metric, "limit": limit, "usage": 0} for metric, limit in _QUOTAS.items()],
        "commonInstanceMetadata": {"kind": "compute#metadata", "fingerprint": "AAAAAAAAAAA="},
    }
