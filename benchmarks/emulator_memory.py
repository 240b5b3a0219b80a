"""Tell how much memory the emulator takes with many instances in one project: `emulator_memory.py [COUNT]`."""

from __future__ import annotations

import asyncio
import resource
import sys
from typing import Final

import httpx

from gcpx_emulator.app import application
from gcpx_emulator.emulator import Emulator

_INSTANCES: Final = "/compute/v1/projects/p/zones/us-east1-b/instances"
_COPIES: Final = """
with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ?)
insert into resources select path || n, collection, json_set(body, '$.id', cast(2000000000000000000 + n as text),
'$.name', json_extract(body, '$.name') || n), number + n from resources, numbers where collection like '%/zones/%'
"""


async def _main(count: int) -> None:
    """Create an instance with its disk, copy both, and read all pages of the list."""
    emulator = Emulator()
    transport = httpx.ASGITransport(application(emulator))
    disk = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": "family/debian-12"}}
    body = {"name": "m", "machineType": "zones/us-east1-b/machineTypes/e2-small", "disks": [disk]}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
        made = await client.post(_INSTANCES, json={**body, "networkInterfaces": [{}]})
        made.raise_for_status()
        await client.post(f"{_INSTANCES.removesuffix('instances')}operations/{made.json()['name']}/wait")
        before = _mebibytes()
        emulator.store.run(_COPIES, (count - 1,))
        token, listed = "", 0
        while token is not None:
            page = (await client.get(_INSTANCES, params={"pageToken": token} if token else {})).json()
            token, listed = page.get("nextPageToken"), listed + len(page["items"])
    print(f"{listed:,} instances with their disks: {_mebibytes():,.0f} MiB, of which {before:,.0f} MiB without them")


def _mebibytes() -> float:
    """Return the most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 10 if sys.platform == "linux" else 1 << 20)


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
