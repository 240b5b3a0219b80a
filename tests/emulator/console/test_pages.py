"""The pages of the console, as a browser without scripts shows them."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from google.pubsub_v1 import PublisherClient, SubscriberClient, types
from servers.google_clients import PUSHER, connect
from servers.receiving import endpoint
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from values.programs import BUCKET, PROJECT, ZONE

BASE = f"/compute/v1/projects/{PROJECT}"
PAGES = ("/", "/console/resources", "/console/requests", "/console/pushes", "/console/controls", "/console/methods")
HOSTILE = "<script>alert(1)</script>\u202e'\"&"
SECRET = "hunter2-of-the-console"


def test_the_overview_draws_each_instance_in_its_zone(cloud, http):
    for name, zone in (("web-001", ZONE), ("web-002", ZONE), ("web-003", "us-east1-c")):
        cloud.make_instance(name, zone)
    page = http.get("/")

    assert page.headers["content-type"].startswith("text/html")
    assert re.findall(r'aria-label="(web-\d+), (\w+), e2-medium', page.text) == [
        ("web-001", "running"),
        ("web-002", "running"),
        ("web-003", "running"),
    ]
    assert re.findall(r'class="zone-name">([\w-]+)', page.text) == [ZONE, "us-east1-c"]
    assert "web: 3 running." in page.text


def test_the_tree_leads_to_every_resource(cloud, http, vm):
    tree = http.get("/console/resources").text
    (collection,) = re.findall(r'href="([^"]+)">instances<', tree)
    (address,) = re.findall(r'href="([^"]+)">example-vm<', http.get(unescape(collection)).text)
    body = json.loads(unescape(re.search("<pre[^>]*>(.*)</pre>", http.get(unescape(address)).text, re.DOTALL)[1]))

    assert body["name"] == "example-vm"
    assert "buckets" in tree


def test_a_resource_that_does_not_exist_is_told(http):
    answer = http.get("/console/resource", params={"path": "projects/p/nothing/here"})

    assert answer.status_code == 404
    assert "does not exist" in answer.text


def test_a_long_list_has_pages(cloud, http):
    cloud.emulator.store.run_many(
        "insert into resources values (?, ?, '{}', ?)",
        [(f"projects/p/topics/t{number:03}", "projects/p/topics", number) for number in range(150)],
    )
    first = http.get("/console/resources", params={"of": "projects/p/topics"}).text
    (more,) = re.findall(r'href="([^"]+)">More<', first)
    second = http.get(unescape(more)).text

    assert re.findall(r">(t\d+)<", first) + re.findall(r">(t\d+)<", second) == [
        f"t{number:03}" for number in range(150)
    ]
    assert ">More<" not in second


def test_secrets_are_masked(cloud, http, vm):
    key = {"rawKey": SECRET, "kmsKeyName": "shown"}
    metadata = {"kind": "compute#metadata", "items": [{"key": "startup-script", "value": SECRET}]}
    cloud.change(vm, lambda body: body.update(metadata=metadata, disks=[{"diskEncryptionKey": key}], _own=SECRET))
    cloud.emulator.store.put(f"b/{BUCKET}/o/notes", {"name": "notes", "metadata": {"kind": SECRET}, "_media": SECRET})
    http.post(
        f"{BASE}/zones/{ZONE}/instances",
        json={"name": "two", "metadata": metadata, "disks": [{"diskEncryptionKey": key}]},
    )
    http.post(f"{BASE}/regions/us-east1/instances/bulkInsert", json={"instanceProperties": {"metadata": metadata}})
    found = [http.get("/console/resource", params={"path": path}).text for path in (vm, f"b/{BUCKET}/o/notes")]
    found += [http.get("/console/requests").text, http.get("/console/requests", params={"text": SECRET}).text]

    assert "startup-script" in found[0]
    assert "shown" in found[0]
    assert "startup-script" in found[2]
    assert not any(SECRET in text for text in found[:3])
    assert "0 shown, of" in found[3], "a filter does not tell what is masked"


@pytest.mark.parametrize("wrapper", [None, "metdata"], ids=["a request that sets metadata", "a misspelled name"])
def test_metadata_without_its_name_is_masked(http, vm, wrapper):
    metadata = {"items": [{"key": "startup-script", "value": SECRET}]}
    http.post(
        f"{BASE}/zones/{ZONE}/instances/example-vm/setMetadata", json={wrapper: metadata} if wrapper else metadata
    )
    page = http.get("/console/requests").text

    assert "startup-script" in page
    assert SECRET not in page


def test_a_fingerprint_is_masked_among_the_metadata_of_an_object(cloud, http):
    cloud.emulator.store.put(f"b/{BUCKET}/o/notes", {"name": "notes", "metadata": {"fingerprint": SECRET}})

    assert SECRET not in http.get("/console/resource", params={"path": f"b/{BUCKET}/o/notes"}).text


@pytest.mark.parametrize("name", ["Signature", "X-Goog-Signature"])
def test_the_signature_of_a_url_is_masked(http, name):
    http.get("/storage/v1/b/uploads/o/notes", params={name: SECRET})

    assert SECRET not in http.get("/console/requests").text
    assert SECRET not in http.get("/_emulator/requests").text


@pytest.mark.parametrize("page", PAGES)
def test_hostile_names_are_shown_harmless(cloud, http, page):
    path = f"projects/{HOSTILE}/zones/{HOSTILE}/instances/{HOSTILE}".replace("</", "<\\")
    body = {"id": HOSTILE, "name": HOSTILE, "status": HOSTILE, "labels": {"gcpx-bulk": HOSTILE}, "machineType": HOSTILE}
    cloud.emulator.store.put(path, body)
    cloud.emulator.store.put(f"b/{HOSTILE}", {"_project": HOSTILE})
    cloud.emulator.pusher.deliveries.append(
        {
            "subscription": HOSTILE,
            "endpoint": HOSTILE,
            "status": None,
            "messageId": HOSTILE,
            "attempt": 1,
            "error": HOSTILE,
            "claims": {HOSTILE: HOSTILE},
            "time": 0.0,
        }
    )
    http.get(f"{BASE}/zones/{HOSTILE}", params={HOSTILE: HOSTILE})
    http.post("/_emulator/faults", json={"method": "*", "status": 503, "reason": HOSTILE, "name": HOSTILE})
    found = (
        http.get(page, params={"text": HOSTILE[:1]}).text + http.get("/console/resource", params={"path": path}).text
    )

    assert "<script>" not in found
    assert "\u202e" not in found
    assert "[U+202E]" in found
    assert "&lt;script&gt;" in found
    assert not re.search(r"\son\w+=|javascript:", re.sub(r'"[^"]*"', '""', found))


@pytest.mark.parametrize("page", [*PAGES, "/console/resource?path=x", "/console/console.js", "/console/console.css"])
def test_a_page_runs_only_the_emulators_scripts_and_is_part_of_no_other_page(http, page):
    answer = http.get(page)
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))

    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["x-content-type-options"] == "nosniff"
    if "html" in answer.headers["content-type"]:
        assert re.findall("<script[^>]*>[^<]", answer.text) == []
        assert not re.search(r"<style|\sstyle=|\son\w+=", answer.text)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_another_site_reads_nothing(http, page):
    for address in (page, "/console/events?parts=fleets"):
        assert http.get(address, headers={"Origin": "https://evil.example"}).status_code == 403
        assert http.get(address, headers={"Host": "evil.example"}).status_code == 403


def test_pages_change_nothing_themselves(http):
    for page in (*PAGES, "/console/resource", "/console/events", "/console/console.js"):
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            assert http.request(method, page, json={}).status_code in {404, 405, 501}, page


@pytest.mark.parametrize("page", PAGES)
def test_every_field_has_a_label_and_every_page_its_landmarks(http, page):
    http.post("/_emulator/faults", json={"method": "*", "status": 503, "name": "busy"})
    found = http.get(page).text

    assert 'lang="en"' in found
    assert [found.count(f"<{name}") for name in ("main", "nav", "h1", "footer")] == [1, 1, 1, 1]
    assert found.count('aria-current="page"') == 1
    outside = re.sub("<label.*?</label>", "", found, flags=re.DOTALL)
    assert not re.search("<(input|select|textarea)", outside)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["compute.zones.get", "compute.instances.get", "compute.regions.get"]),
        ({"method": "instances"}, ["compute.instances.get"]),
        ({"status": "4xx"}, ["compute.zones.get", "compute.instances.get"]),
        ({"status": "200"}, ["compute.regions.get"]),
        ({"reason": "notfound"}, ["compute.zones.get", "compute.instances.get"]),
        ({"text": "NOWHERE"}, ["compute.zones.get"]),
        ({"text": "nowhere", "status": "2"}, []),
        ({"seconds": "not a number"}, ["compute.zones.get", "compute.instances.get", "compute.regions.get"]),
    ],
)
def test_requests_are_filtered(http, query, expected):
    for path in ("regions/us-east1", f"zones/{ZONE}/instances/nobody", "zones/nowhere"):
        http.get(f"{BASE}/{path}")
    found = http.get("/console/requests", params=query).text

    assert re.findall(r"<code>([\w.]+)</code>", found) == expected


def test_only_requests_of_the_last_seconds_are_shown(cloud, http):
    for _ in range(2):
        http.get(f"{BASE}/regions/us-east1")
    cloud.emulator.requests.kept[0]["time"] -= 100

    assert "1 shown, of 2 kept." in http.get("/console/requests", params={"seconds": "60"}).text


def test_operations_show_their_progress_and_their_errors(cloud, http):
    with cloud.held_operations():
        http.post(f"{BASE}/zones/{ZONE}/disks", json={"name": "slow", "sizeGb": "10"})
        moving = http.get("/").text
    cloud.fail("compute.disks.insert", operation={"errors": [{"code": "QUOTA_EXCEEDED"}]})
    http.post(f"{BASE}/zones/{ZONE}/disks", json={"name": "fails", "sizeGb": "10"})
    ended = http.get("/").text

    assert "1 under way." in moving
    assert 'aria-label="insert 0%"' in moving
    assert "None is under way." in ended
    assert "QUOTA_EXCEEDED" in ended


def test_every_operation_that_links_to_its_target_leads_to_a_page(cloud, http, vm):
    for name in ("kept", "gone"):
        http.post(f"{BASE}/zones/{ZONE}/disks", json={"name": name, "sizeGb": "10"}).raise_for_status()
    http.delete(f"{BASE}/zones/{ZONE}/disks/gone").raise_for_status()
    disk = {"boot": True, "initializeParams": {"sourceImage": "family/debian-12"}}
    bulk = {"count": 1, "namePattern": "web-#", "instanceProperties": {"machineType": "e2-small", "disks": [disk]}}
    with cloud.held_operations():
        http.post(f"{BASE}/regions/us-east1/instances/bulkInsert", json=bulk).raise_for_status()
        table = re.search('<div id="operations">.*?</table>', http.get("/").text, re.DOTALL)[0]
        links = re.findall(r'href="([^"]+)">([^<]+)<', table)
        found = {name: http.get(unescape(address)).status_code for address, name in links}

    assert "bulkInsert in us-east1" in table
    assert "gone <small>delete" in table
    assert found.keys() == {"kept", "example-vm", "example-data", "web-1"}
    assert set(found.values()) == {200}


def test_pushes_show_the_claims_of_their_tokens(cloud, http):
    async def take(_):
        return Response(status_code=204)

    topic, received = f"projects/{PROJECT}/topics/uploads", []

    def app(_url, _received):
        async def keep(request):
            received.append(request.headers["authorization"])
            return await take(request)

        return Starlette(routes=[Route("/push", keep, methods=["POST"])])

    with endpoint(app) as receiver:
        token = types.PushConfig.OidcToken(service_account_email=PUSHER, audience="my-audience")
        config = types.PushConfig(push_endpoint=receiver.url, oidc_token=token)
        path = f"projects/{PROJECT}/subscriptions/worker"
        connect(SubscriberClient, cloud).create_subscription(
            request={"name": path, "topic": topic, "push_config": config}
        )
        connect(PublisherClient, cloud).publish(topic=topic, messages=[types.PubsubMessage(data=b"x")])
        cloud.deliveries(1)
    found = http.get("/console/pushes").text

    assert "my-audience" in found
    assert PUSHER in found
    assert received[0].rpartition(".")[2] not in found
    assert "204" in found
