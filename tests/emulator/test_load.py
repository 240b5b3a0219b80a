"""Much at once: many requests, large bodies, and long lists; work is counted, not timed."""

from __future__ import annotations

import asyncio
import base64
import json
from datetime import datetime

import httpx
import pytest
from records.budgets import called
from values.programs import PROJECT, VM, ZONE

from gcpx_emulator.app import application
from gcpx_emulator.core.json_data import MOST_VALUES

MANY = 20_000
CALLERS = 200
BASE = f"/compute/v1/projects/{PROJECT}"
ZONE_PATH, REGION_PATH = f"{BASE}/zones/{ZONE}", f"{BASE}/regions/us-east1"
_MOST_CALLS = 1_500_000
"""The most calls of functions for one body; a function is called in less than a microsecond."""


async def _all_at_once(host, requests):
    """Send requests at once, each over its own connection; return the answers."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=f"http://{host}", trust_env=False, timeout=60, limits=limits) as client:
        return await asyncio.gather(*(client.request(method, path, json=body) for method, path, body in requests))


def test_two_hundred_requests_at_once_are_answered(cloud):
    bodies = [{"name": f"disk-{number}", "sizeGb": "10"} for number in range(CALLERS)]
    answers = asyncio.run(_all_at_once(cloud.host, [("POST", f"{ZONE_PATH}/disks", body) for body in bodies]))
    operations = {answer.json()["name"] for answer in answers}
    waits = [("POST", f"{ZONE_PATH}/operations/{name}/wait", None) for name in operations]
    done = asyncio.run(_all_at_once(cloud.host, waits))

    assert {answer.status_code for answer in answers} == {200}
    assert len(operations) == CALLERS
    assert {answer.json()["status"] for answer in done} == {"DONE"}
    assert cloud.emulator.store.counts()["disks"] == CALLERS


def test_two_hundred_that_wait_keep_nobody_else_waiting(cloud, http):
    async def waiting():
        under_way = asyncio.create_task(_all_at_once(cloud.host, waits))
        assert await asyncio.to_thread(all_wait)
        other = await asyncio.to_thread(http.get, f"{ZONE_PATH}/disks")
        assert not under_way.done()
        cloud.finish_operations()
        return other, await under_way

    with cloud.held_creations(CALLERS) as all_wait:
        bodies = [{"name": f"disk-{number}", "sizeGb": "10"} for number in range(CALLERS)]
        names = [http.post(f"{ZONE_PATH}/disks", json=body).json()["name"] for body in bodies]
        waits = [("POST", f"{ZONE_PATH}/operations/{name}/wait", None) for name in names]
        try:
            other, answers = asyncio.run(waiting())
        finally:
            cloud.finish_operations()

    assert other.status_code == 200
    assert {answer.json()["status"] for answer in answers} == {"DONE"}


def _largest(text, separators):
    """Repeat a text as often as a body may have it."""
    return text * (MOST_VALUES // separators - 10)


@pytest.mark.parametrize("value", [
    f"[{_largest('[],', 2)}[]]",
    f"[{_largest('{},', 2)}{{}}]",
    f"[{_largest('0,', 1)}0]",
    '{"key":"' + _largest(",", 1) + '"}',
], ids=["lists", "objects", "numbers", "a text"])  # fmt: skip
@pytest.mark.parametrize("place", ['{"unknown": %s}', '{"name": "web", "metadata": {"items": %s}}', "%s"])
def test_the_work_for_a_large_body_is_bounded(cloud, place, value):
    answers = []
    content = place % value

    async def send():
        app = application(cloud.emulator)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            answers.append(await client.post(f"{ZONE_PATH}/instances", content=content))

    assert len(called(lambda: asyncio.run(send()))) < _MOST_CALLS
    assert answers[0].status_code == 400
    assert len(answers[0].content) < 20_000


@pytest.mark.parametrize("size", [12, 100])
def test_a_body_of_empty_lists_is_not_parsed(cloud, http, size):
    answer = http.post(f"{ZONE_PATH}/instances", content=b"[]," * ((size << 20) // 3))

    assert answer.status_code == 413
    assert f"at most {MOST_VALUES:,} values" in answer.json()["error"]["message"]


def _crowd(cloud, path):
    """Copy a resource many times in its scope; each copy is a second younger than the one before."""
    cloud.change(path, lambda body: body.update(creationTimestamp="2026-01-01T00:00:00.000-08:00"))
    cloud.emulator.store.run(
        "with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ?) "
        "insert into resources select path || printf('-%06d', n), collection, json_set(body, "
        "'$.id', cast(2000000000000000000 + n as text), '$.name', json_extract(body, '$.name') || printf('-%06d', n), "
        "'$.creationTimestamp', strftime('%Y-%m-%dT%H:%M:%S.000-08:00', '2026-01-01', n || ' seconds')), "
        "number + n from resources, numbers where path = ?",
        (MANY, path),
    )


def _last_page(token, path, *, is_newest_first):
    """Return the token of the last page, made of that of the second one."""
    list_id, *_ = json.loads(base64.urlsafe_b64decode(token))
    midnight = datetime.fromisoformat("2026-01-01T00:00:00-08:00").timestamp()
    position = [-int(midnight + 48) * 1000, f"{path}-{48:06d}"] if is_newest_first else [f"{path}-{MANY - 50:06d}"]
    return base64.urlsafe_b64encode(json.dumps([list_id, *position]).encode()).decode()


@pytest.mark.parametrize("order", ["", "creationTimestamp desc"])
@pytest.mark.parametrize(("resource", "path"), [
    (VM, f"{ZONE_PATH}/instances"),
    (VM, f"{BASE}/aggregated/instances"),
    (f"projects/{PROJECT}/regions/us-east1/subnetworks/wide", f"{REGION_PATH}/subnetworks"),
    (f"projects/{PROJECT}/regions/us-east1/addresses/front", f"{BASE}/aggregated/addresses"),
    (f"projects/{PROJECT}/global/networks/wide", f"{BASE}/global/networks"),
], ids=["instances", "instances of all zones", "subnetworks", "addresses", "networks"])  # fmt: skip
def test_the_last_page_takes_no_more_work_than_the_first(cloud, vm, resource, path, order):
    cloud.post(f"{BASE}/global/networks", {"name": "wide", "autoCreateSubnetworks": False})
    wide = {"name": "wide", "network": "global/networks/wide", "ipCidrRange": "10.0.0.0/16"}
    cloud.post(f"{REGION_PATH}/subnetworks", wide)
    cloud.post(f"{REGION_PATH}/addresses", {"name": "front"})
    _crowd(cloud, resource)
    pages = []

    async def read(token):
        app = application(cloud.emulator)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            query = {"maxResults": 50, "orderBy": order} | ({"pageToken": token} if token else {})
            pages.append((await client.get(path, params=query)).json())

    asyncio.run(read(None))  # what is read once
    first = len(called(lambda: asyncio.run(read(None))))
    token = _last_page(pages[-1]["nextPageToken"], resource, is_newest_first=bool(order))
    last = len(called(lambda: asyncio.run(read(token))))

    assert f"-{1 if order else MANY:06d}" in json.dumps(pages[-1])
    assert "nextPageToken" not in pages[-1]
    assert last < 1.1 * first
    assert first < 25_000, "the page is read, and not all resources"
