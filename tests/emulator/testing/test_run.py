"""The command `gcpx-emulator run`: programs with Google's clients, as they are, reach an emulator of their own."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from engines.clock import HANGS

from gcpx_emulator.core.discovery import source_of
from gcpx_emulator.interception.hosts import is_of_google, is_served, is_served_without_tls
from gcpx_emulator.interception.proxy import Proxy, proxying
from gcpx_emulator.testing import running

RUN = [sys.executable, "-m", "gcpx_emulator", "run"]
CREDENTIALS = """
import google.auth
from google.auth import compute_engine, jwt
from google.auth.transport.requests import Request
from google.oauth2 import id_token

found, project = google.auth.default(["https://www.googleapis.com/auth/cloud-platform"])
found.refresh(Request())
of_machine = compute_engine.Credentials()
of_machine.refresh(Request())
emails = [jwt.decode(token, verify=False)["email"] for token in (found.token, of_machine.token)]
identity = id_token.verify_oauth2_token(id_token.fetch_id_token(Request(), "https://example.com"), Request())
print([project, *emails, identity["aud"], identity["email"]])
"""
MACHINE = """
import os, google.auth
del os.environ["GOOGLE_APPLICATION_CREDENTIALS"], os.environ["GOOGLE_CLOUD_PROJECT"]
found, project = google.auth.default()
print([type(found).__module__, project])
"""
COMPUTE = """
from google.cloud import compute_v1
addresses = compute_v1.AddressesClient()
where = {"project": "demo-project", "region": "us-east1"}
addresses.insert(address_resource=compute_v1.Address(name="made"), **where).result()
print([address.name for address in addresses.list(**where)])
"""
STORAGE = """
from google.cloud import storage
client = storage.Client()
blob = client.create_bucket("made").blob("large")
blob.chunk_size = 262144
blob.upload_from_string(b"x" * 300000)
print([len(blob.download_as_bytes()), blob.media_link.partition("?")[0]])
"""
DISCOVERED = """
from googleapiclient.discovery import build
for is_static in (True, False):
    zones = build("compute", "v1", static_discovery=is_static).zones()
    print([zones.get(project="demo-project", zone="us-east1-b").execute()["name"]])
"""
PUBSUB = """
from google.pubsub_v1 import PublisherClient
publisher = PublisherClient(transport="rest")
print([publisher.create_topic(name="projects/demo-project/topics/made").name])
"""
REGIONAL = """
import requests
from google.cloud import compute_v1, storage
from google.pubsub_v1 import PublisherClient
zones = compute_v1.ZonesClient(client_options={"api_endpoint": "compute.us-east1.rep.googleapis.com"})
print([zones.get(project="demo-project", zone="us-east1-b").name])
for host in ("us-east1-pubsub.googleapis.com", "pubsub.us-east1.rep.googleapis.com"):
    publisher = PublisherClient(transport="rest", client_options={"api_endpoint": host})
    print([publisher.create_topic(name=f"projects/demo-project/topics/{host}").name.rpartition("/")[2]])
storage.Client(client_options={"api_endpoint": "https://storage.us-east1.rep.googleapis.com"}).create_bucket("made")
print([requests.get("http://storage.googleapis.com/storage/v1/b/made").json()["name"]])
"""
OTHERS = """
import httpx, requests, ssl
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError
try:
    build("cloudbuild", "v1").projects().builds().list(projectId="p").execute()
except HttpError as error:
    print([error.status_code, error.reason])
direct = httpx.Client(trust_env=False, verify=ssl.create_default_context())
for client in (requests, httpx, direct):
    for url in ("https://cloudbuild.googleapis.com/v1/projects", "http://compute.googleapis.com/compute/v1/projects/p"):
        answer = client.get(url)
        print([answer.status_code, answer.json()["error"]["message"]])
"""
GRPC = """
import grpc
from google.api_core.grpc_helpers import create_channel
from google.pubsub_v1 import PublisherClient
print([PublisherClient().create_topic(name="projects/demo-project/topics/made").name])
try:
    create_channel("storage.googleapis.com:443").unary_unary("/google.storage.v2.Storage/GetBucket")(b"")
except grpc.RpcError as error:
    print([error.code().name])
"""
NODE = """
require("https").get("https://compute.googleapis.com/compute/v1/projects/p/zones/us-east1-b", async (answer) => {
  console.log(JSON.stringify([JSON.parse((await answer.toArray()).join("")).name]));
});
"""
UNPATCHED = """
import json, urllib.request
with urllib.request.urlopen("https://compute.googleapis.com/compute/v1/projects/p/zones/us-east1-b") as answer:
    print([json.load(answer)["name"]])
"""


def _run(*command, options=(), **variables):
    return subprocess.run(
        [*RUN, *options, "--", *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS,
        env={**os.environ, **variables},
    )


def _printed(code, *flags, **variables):
    """Run a program; return the lists that it printed."""
    done = _run(sys.executable, *flags, "-c", code, **variables)
    assert done.returncode == 0, done.stderr
    return [json.loads(line.replace("'", '"')) for line in done.stdout.splitlines()]


def test_default_credentials_are_those_of_the_emulator():
    account = "emulator@demo-project.iam.gserviceaccount.com"

    assert _printed(CREDENTIALS) == [["demo-project", account, account, "https://example.com", account]]


def test_a_program_without_a_file_of_credentials_finds_the_metadata_server():
    assert _printed(MACHINE, NO_GCE_CHECK="") == [["google.auth.compute_engine.credentials", "demo-project"]]


@pytest.mark.parametrize("options", [(), ("--log",)])
def test_requests_are_logged_on_demand(options):
    done = _run(sys.executable, "-c", COMPUTE, options=options)

    assert ("compute.addresses.insert demo-project/regions/us-east1/addresses" in done.stderr) == bool(options)


def test_compute_reaches_the_emulator_and_so_do_its_operations():
    assert _printed(COMPUTE) == [["made"]]


def test_storage_reaches_the_emulator_with_each_part_of_an_upload():
    ((length, link),) = _printed(STORAGE, STORAGE_EMULATOR_HOST="http://127.0.0.1:9")

    assert length == 300000
    assert urlsplit(link).path == "/download/storage/v1/b/made/o/large"


def test_a_discovered_client_reaches_the_emulator():
    assert _printed(DISCOVERED) == [["us-east1-b"], ["us-east1-b"]]


def test_pubsub_by_rest_reaches_the_emulator():
    assert _printed(PUBSUB) == [["projects/demo-project/topics/made"]]


def test_addresses_of_one_region_and_storage_without_tls_reach_the_emulator():
    pubsub = ["us-east1-pubsub.googleapis.com", "pubsub.us-east1.rep.googleapis.com"]

    assert _printed(REGIONAL, STORAGE_EMULATOR_HOST="http://127.0.0.1:9") == [
        ["us-east1-b"],
        *([host] for host in pubsub),
        ["made"],
    ]


def test_other_hosts_of_google_are_refused_with_the_reason():
    refused = [501, "cloudbuild.googleapis.com is not emulated; no call to Google leaves this machine."]
    plain = [501, "compute.googleapis.com is emulated only with https; no call to Google leaves this machine."]

    assert _printed(OTHERS) == [refused, *[refused, plain] * 3]


def test_a_call_by_grpc_reaches_the_emulator_if_it_is_one_of_pubsub():
    assert _printed(GRPC) == [["projects/demo-project/topics/made"], ["UNIMPLEMENTED"]]


def test_a_program_whose_clients_only_know_proxies_reaches_the_emulator():
    assert _printed(UNPATCHED, "-I") == [["us-east1-b"]]


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is missing")
def test_a_program_of_node_that_ignores_proxies_reaches_the_emulator():
    done = _run("node", "-e", NODE)

    assert (done.stdout, done.returncode) == ('["us-east1-b"]\n', 0), done.stderr


def test_a_module_that_is_hidden_is_still_imported(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.customized = 1")

    assert _printed("print([customized])", PYTHONPATH=str(tmp_path)) == [[1]]


def test_options_name_the_project():
    done = _run(
        sys.executable, "-c", "import os; print(os.environ['GOOGLE_CLOUD_PROJECT'])", options=["--project=mine"]
    )

    assert done.stdout == "mine\n"


def test_the_exit_code_is_that_of_the_command():
    assert _run(sys.executable, "-c", "raise SystemExit(7)").returncode == 7
    assert _run(sys.executable, "-c", "import os; os.kill(os.getpid(), 9)").returncode == 137


def test_a_command_that_does_not_exist_is_named():
    done = _run("no-such-command")

    assert done.returncode == 127
    assert done.stderr == "gcpx-emulator run: no-such-command cannot be run: No such file or directory\n"


def test_no_command_is_refused():
    done = subprocess.run(RUN, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "write it after --, such as gcpx-emulator run -- python program.py" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_a_signal_is_passed_on_to_the_command():
    code = (
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('ended'), sys.exit(3)))\n"
        "print('ready', flush=True)\n"
        "signal.pause()"
    )
    with subprocess.Popen([*RUN, "--", sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)

        assert process.stdout.read() == "ended\n"
    assert process.returncode == 3


@pytest.fixture(scope="module")
def port():
    """The port of a server that is none of Google's."""
    with running() as emulator:
        yield int(emulator.host.rpartition(":")[2])


@pytest.mark.parametrize("hops", [1, 2])
def test_the_proxy_passes_other_calls_on_also_to_a_proxy(port, hops, monkeypatch):
    monkeypatch.setenv("no_proxy", "")
    with proxying(Proxy(0, 0, {})) as last, proxying(Proxy(0, 0, dict.fromkeys(("http", "https"), last))) as first:
        proxy = urlsplit(last if hops == 1 else first)
        for path, tunnel in [
            ("/_emulator/clock", f"127.0.0.1:{port}"),
            (f"http://127.0.0.1:{port}/_emulator/clock", None),
        ]:
            connection = http.client.HTTPConnection(proxy.hostname, proxy.port)
            if tunnel:
                connection.set_tunnel(tunnel)
            connection.request("GET", path)
            answer = connection.getresponse()
            assert answer.status == 200
            assert list(json.load(answer)) == ["time"]
            connection.close()


def test_the_proxy_names_a_host_that_cannot_be_reached():
    with proxying(Proxy(0, 0, {})) as proxy:
        connection = http.client.HTTPConnection(*proxy.removeprefix("http://").split(":"))
        connection.request("GET", "http://127.0.0.1:9/")
        answer = connection.getresponse()

        assert (answer.status, answer.read()[:46]) == (502, b"gcpx-emulator run cannot reach the host: Conne")
        connection.close()


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("compute.googleapis.com", True),
        ("COMPUTE.googleapis.com.", True),
        ("us-east1-pubsub.googleapis.com", True),
        ("googleapis.com", True),
        ("accounts.google.com", True),
        ("metadata.google.internal", True),
        ("169.254.169.254", True),
        ("notgoogleapis.com", False),
        ("googleapis.com.example.com", False),
        ("127.0.0.1", False),
    ],
)
def test_hosts_of_google(host, expected):
    assert is_of_google(host) is expected


@pytest.mark.parametrize(
    "api",
    [
        "cloudresourcemanager.v1",
        "compute.v1",
        "compute.beta",
        "iam.v1",
        "iamcredentials.v1",
        "oauth2.v2",
        "oslogin.v1",
        "pubsub.v1",
        "storage.v1",
    ],
)
def test_every_address_of_an_api_that_is_emulated_is_served(api):
    content = json.loads(source_of(api))
    urls = [
        content["rootUrl"],
        *filter(None, [content.get("mtlsRootUrl")]),
        *(one["endpointUrl"] for one in content.get("endpoints", [])),
    ]
    hosts = [urlsplit(url).hostname for url in urls]

    assert len(hosts) > (30 if content["name"] in {"compute", "pubsub", "storage"} else 0)
    assert [host for host in hosts if not is_served(host) or not is_of_google(host)] == []
    assert {is_served_without_tls(host) for host in hosts} == {content["name"] == "storage"}


@pytest.mark.parametrize(
    "host",
    [
        "us-east1-compute.googleapis.com",
        "made.storage.googleapis.com",
        "pubsub.eu.rep.googleapis.com",
        "storage.googleapis.com.example",
    ],
)
def test_other_addresses_are_not_served(host):
    assert not is_served(host)
