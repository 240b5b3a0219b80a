"""The console in Chromium, which `make test-backends` installs."""

from __future__ import annotations

import json

import chromium
import console_picture
import pytest
from servers.receiving import endpoint
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route
from values.programs import PROJECT, ZONE
from workspace import ROOT

pytestmark = pytest.mark.backends

PAGES = ("", "console/resources", "console/requests", "console/pushes", "console/controls", "console/methods")
LIVE = "document.getElementById('state').textContent === 'live'"
TILE = "[...document.querySelectorAll('.tiles .tile:not(.gone)')].find((one) => one.ariaLabel.startsWith(arguments[0]))"


@pytest.fixture(scope="module")
def browser():
    with chromium.browser() as found:
        found.show_as(1240, 700)
        yield found


@pytest.fixture
def console(cloud, browser):
    """The address of the console; fails if the browser complains about its pages."""
    browser.show_as(1240, 700)
    browser.complaints()
    yield f"http://{cloud.host}/"
    browser.open("about:blank")  # ends the page's stream, for which the next reset would wait
    assert browser.complaints() == []


def _instance(cloud, http, name="web-001"):
    disk = {"boot": True, "initializeParams": {"sourceImage": "family/debian-12"}}
    body = {"name": name, "machineType": f"zones/{ZONE}/machineTypes/e2-small", "disks": [disk]}
    http.post(f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances", json=body).raise_for_status()
    return f"projects/{PROJECT}/zones/{ZONE}/instances/{name}"


def test_a_tile_follows_its_instance(cloud, http, console, browser):
    browser.open(console)
    browser.until(LIVE)
    with cloud.held_operations():
        path = _instance(cloud, http)
        browser.until(TILE, "web-001, provisioning")
    browser.until(TILE, "web-001, running")
    http.post("/_emulator/guest-attributes", json={"instance": path, "attributes": {"web/ready": "yes"}})
    browser.until(TILE, "web-001, running, with guest attributes")
    with cloud.held_operations():
        http.post(f"/compute/v1/{path}/stop").raise_for_status()
        browser.until(TILE, "web-001, stopping")
    browser.until(TILE, "web-001, terminated")
    http.delete(f"/compute/v1/{path}").raise_for_status()
    browser.until("!document.querySelector('.tiles .tile')")


def test_a_change_keeps_what_a_person_has_opened_and_focused(cloud, http, console, browser):
    _instance(cloud, http, "web-001")
    _instance(cloud, http, "web-002")
    browser.open(console)
    browser.until(LIVE)
    browser.run("document.querySelector('.tiles').focus()")
    browser.type(".tiles", "\ue014")  # the right arrow
    assert browser.run("return document.activeElement.textContent") == "web-001"
    browser.run("document.querySelector('#resources details').open = false")
    path = _instance(cloud, http, "web-003")
    cloud.change(path.replace("003", "001"), lambda body: body.update(status="STOPPING"))
    browser.until(TILE, "web-001, stopping")
    browser.until("document.getElementById('resources').textContent.includes('instances 3')")

    assert browser.run("return document.activeElement.ariaLabel").startswith("web-001, stopping")
    assert browser.run("return document.querySelector('#resources details').open") is False
    browser.until("document.getElementById('summary').textContent.includes('1 stopping')")


def test_buttons_and_forms_control_the_emulator(cloud, http, console, browser):
    browser.open(f"{console}console/controls")
    browser.until(LIVE)
    begin = cloud.emulator.now()
    browser.click("button[data-body*='3600']")
    browser.until("document.querySelector('.answer').textContent === 'Done.'")
    browser.type("form[data-post$=faults] [name=method]", "compute.disks.insert")
    browser.type("form[data-post$=faults] [name=status]", "503")
    browser.click("form[data-post$=faults] button")
    browser.until("document.getElementById('faults').textContent.includes('compute.disks.insert')")
    browser.type("form[data-into] [name=value]", "7")
    browser.click("form[data-into] button")
    browser.until("document.querySelector('form[data-into] .answer').textContent === 'Done.'")
    browser.run("document.querySelector('form[data-post$=advice] textarea').value = '{\"wrong\": 1}'")
    browser.click("form[data-post$=advice] button")
    browser.until("document.querySelector('form[data-post$=advice] .answer.bad')")

    assert cloud.emulator.now() >= begin + 3600
    assert [(fault.method, fault.status) for fault in cloud.emulator.faults.queue] == [("compute.disks.insert", 503)]
    assert list(http.get("/_emulator/limits").json()["zones"].values()) == [7]
    assert "unknown keys: wrong" in browser.run("return document.querySelector('.answer.bad').textContent")
    assert [line for line in browser.complaints() if "400 (Bad Request)" not in line] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_a_phone_shows_each_page_without_scrolling_sideways(cloud, http, console, browser, page, scheme):
    for number in range(40):
        cloud.emulator.store.put(
            f"projects/{PROJECT}/zones/{ZONE}/instances/web-{number:03}", {"id": str(number), "status": "RUNNING"}
        )
    _instance(cloud, http, "a-name-of-an-instance-that-is-as-long-as-google-allows-it-to-be")
    http.post("/_emulator/faults", json={"method": "compute.instanceTemplates.insert", "status": 503, "name": "busy"})
    browser.show_as(390, 844, scheme)
    browser.open(console + page)
    width = browser.run("return document.documentElement.scrollWidth")
    end = browser.run("return document.querySelector('nav li:last-child').getBoundingClientRect().right")
    hidden = browser.run("const nav = document.querySelector('nav'); return nav.scrollWidth - nav.clientWidth")
    cut = browser.run(
        "return [...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth)"
    )
    narrow = browser.run("return [...document.querySelectorAll('.called')].filter((one) => one.clientWidth < 200)")
    colours = browser.run("const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]")
    light = [sum(map(int, colour[4:-1].split(","))) for colour in colours]

    assert width <= 390
    assert end <= 390
    assert hidden == 0
    assert cut == narrow == []
    assert (light[0] < light[1]) == (scheme == "light")


SHOWN = "return [...document.querySelectorAll('.tiles .tile')].map((one) => one.getAttribute('aria-label'))"
CONTRAST = """
const channel = (value) => { value /= 255; return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
const brightness = (colour) => { const [r, g, b] = colour.match(/[0-9.]+/g).map(Number);
  return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b); };
const behind = (element) => { for (let one = element; one; one = one.parentElement) { const style = getComputedStyle(one);
  const stripe = style.backgroundImage.match(/rgb\\([^)]*\\)/); if (stripe) return stripe[0];
  if (!/, 0\\)$/.test(style.backgroundColor)) return style.backgroundColor; } return "rgb(255, 255, 255)"; };
return [...document.querySelectorAll("body *")].filter((one) => one.getClientRects().length && one.childNodes.length
    && [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())).map((one) => {
  const [a, b] = [brightness(getComputedStyle(one).color), brightness(behind(one))].sort((x, y) => y - x);
  return [(a + 0.05) / (b + 0.05), one.className + " " + one.textContent.slice(0, 40)]; })
  .filter(([ratio]) => ratio < 4.5);
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_all_text_has_contrast(cloud, http, console, browser, page, scheme):
    for number, status in enumerate(
        ("PROVISIONING", "STAGING", "RUNNING", "STOPPING", "SUSPENDED", "TERMINATED", "OTHER")
    ):
        for generation in ("a", "b"):
            path = f"projects/{PROJECT}/zones/{ZONE}/instances/web-{number}{generation}"
            labels = {"gcpx-bulk": "web", "gcpx-generation": generation}
            cloud.emulator.store.put(path, {"id": path, "status": status, "labels": labels})
    http.get("/compute/v1/projects/p/zones/nowhere")
    http.post("/_emulator/preempt", json={"instances": [_instance(cloud, http, "preempted")]})
    browser.show_as(1240, 700, scheme)
    browser.open(console + page)

    assert browser.run(CONTRAST) == []


def test_a_form_makes_an_operation_fail(cloud, http, console, browser):
    browser.open(f"{console}console/controls")
    browser.until(LIVE)
    form = "form[data-post$=faults]"
    for name, words in (("method", "compute.disks.insert"), ("operation", "QUOTA_EXCEEDED"), ("message", "no more")):
        browser.type(f"{form} [name={name}]", words)
    browser.click(f"{form} button")
    browser.until("document.getElementById('faults').textContent.includes('the operation fails')")
    zone = f"/compute/v1/projects/{PROJECT}/zones/{ZONE}"
    started = http.post(f"{zone}/disks", json={"name": "d", "sizeGb": "10"}).json()
    operation = http.get(f"{zone}/operations/{started['name']}").json()

    assert operation["error"]["errors"] == [{"code": "QUOTA_EXCEEDED", "message": "no more"}]


def test_a_page_of_another_site_changes_nothing(cloud, http, console, browser):
    path = _instance(cloud, http)
    evil = f"""
    const base = {json.dumps(console)}, sent = [];
    const types = ["text/plain", "application/json", "application/x-www-form-urlencoded"];
    for (const type of types) for (const mode of ["no-cors", "cors"])
      sent.push(fetch(base + "_emulator/reset", {{method: "POST", mode, headers: {{"Content-Type": type}}, body: "{{}}"}}).catch(() => 0));
    sent.push(fetch(base + "_emulator/resources/{path}", {{method: "DELETE"}}).catch(() => 0));
    sent.push(fetch(base, {{mode: "cors"}}).then((answer) => answer.text()).then((text) => {{ window.read = text; }}).catch(() => 0));
    const frame = document.createElement("iframe"); frame.src = base; document.body.append(frame);
    sent.push(new Promise((loaded) => {{ frame.onload = loaded; }}));
    sent.push(new Promise((ended) => {{ const events = new EventSource(base + "console/events?parts=fleets");
      events.onmessage = (event) => {{ window.read = event.data; ended(); }}; events.onerror = () => {{ events.close(); ended(); }}; }}));
    Promise.all(sent).then(() => {{ window.done = true; }});
    """

    async def page(_):
        return HTMLResponse("<!doctype html><body>")

    with endpoint(lambda *_: Starlette(routes=[Route("/push", page)])) as other:
        browser.open(other.url)
        browser.run(evil)
        browser.until("window.done")
        read, shown = browser.run("return [window.read || null, document.querySelector('iframe').contentDocument]")
    browser.complaints()

    assert cloud.get(path) is not None
    assert (read, shown) == (None, None)


def test_five_thousand_instances_stay_fluid(cloud, console, browser):
    rows = []
    for number in range(5000):
        path = f"projects/{PROJECT}/zones/us-east1-{'bcd'[number % 3]}/instances/web-{number:04}"
        body = {"id": str(number), "status": "RUNNING", "labels": {"gcpx-bulk": "web"}}
        rows.append((path, path.rpartition("/")[0], json.dumps(body), number))
    cloud.emulator.store.run_many("insert into resources values (?, ?, ?, ?)", rows)
    browser.open(console)
    browser.until(LIVE)
    browser.run("for (const one of document.querySelectorAll('.tiles .tile')) one.first = true")
    for number in range(0, 100, 2):
        cloud.change(rows[number][0], lambda body: body.update(status="STOPPING"))
    browser.until("document.querySelectorAll('.tiles .stopping').length === 50")

    assert (
        browser.run("return [...document.querySelectorAll('.tiles .tile')].filter((one) => one.first).length") == 4950
    )


def test_the_picture_of_the_guide_is_drawn(browser, tmp_path):
    console_picture.draw(browser, tmp_path / "console.png")
    sizes = [path.read_bytes()[16:24] for path in (tmp_path / "console.png", ROOT / "docs/images/console.png")]

    assert sizes[0] == sizes[1]
    assert (tmp_path / "console.png").stat().st_size < 200_000
    assert "web-041, staging" in browser.run("return document.documentElement.outerHTML")


def test_the_recording_of_the_guide_shows_every_step_of_a_roll(browser, tmp_path, monkeypatch):
    taken, webp = [], chromium.Browser.webp

    def noted(self, quality):
        taken.append([" ".join(one.split()) for one in self.run(SHOWN)])
        return webp(self, quality)

    monkeypatch.setattr(chromium.Browser, "webp", noted)
    console_picture.film(browser, tmp_path / "roll.webp")
    first, last = taken[0], taken[-1]
    browser.open((tmp_path / "roll.webp").as_uri())
    size = browser.run("const one = document.images[0]; return [one.complete, one.naturalWidth, one.naturalHeight]")
    shown = {tile for tiles in taken for tile in tiles}

    assert (first, len(last)) == ([], 12)
    assert not {tile.split(",")[0] for tile in last} & {tile.split(",")[0] for tile in taken[5]}
    assert {tile.split(", ")[1] for tile in shown} >= {"provisioning", "staging", "running", "stopping"}
    assert all("with guest attributes" in tile and "older" not in tile for tile in last)
    assert any("older generation" in tile for tile in shown)
    assert all(12 <= len(tiles) <= 15 for tiles in taken[1:])
    assert size == [True, 960, 650]
    assert (tmp_path / "roll.webp").stat().st_size < 1_000_000
