"""The fixtures of the pytest plugin, in test runs of their own as users have them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib

import pytest
from cli.documented import section
from engines.clock import HANGS
from workspace import ROOT, emulator

OPTIONS = ["-p", "gcpx_emulator.pytest_plugin", "-p", "no:cacheprovider", "-q", "--gcpx-emulator-strict"]
ISOLATED = """
import os, pytest, urllib.request

@pytest.mark.parametrize("number", range(4))
def test_a_clean_state(gcpx_emulator, number):
    assert gcpx_emulator.resources("b") == {}
    assert gcpx_emulator.requests() == []
    assert gcpx_emulator.control("GET", "faults") == []
    assert os.environ["GCPX_EMULATOR_HOST"] == gcpx_emulator.host
    gcpx_emulator.seed.bucket("same-name")
    gcpx_emulator.control("POST", "faults", {"method": "*", "status": 503})
    gcpx_emulator.advance(1000)
"""
UNUSED = """
import os, sys

def test_nothing_is_loaded():
    loaded = {name.partition(".")[0] for name in sys.modules}
    assert not loaded & {"starlette", "uvicorn", "httpx", "googleapiclient", "pulumi", "attrs"}
    assert "GCPX_EMULATOR_HOST" not in os.environ
"""
PROXY = """
import os
from google.cloud import storage

def test_a_client_that_reads_the_environment(gcpx_emulator):
    assert os.environ["HTTP_PROXY"] == "http://127.0.0.1:9"
    gcpx_emulator.client(storage.Client).create_bucket("made-behind-a-proxy")
    assert list(gcpx_emulator.resources("b")) == ["b/made-behind-a-proxy"]
"""
CLOUD = """
import os, socket, ssl, subprocess, sys
import google.auth, httplib2, pytest, requests
from google.auth.transport.urllib3 import AuthorizedHttp
from google.cloud import compute_v1, storage
from google.pubsub_v1 import PublisherClient
from googleapiclient.discovery import build

KEPT = (socket.getaddrinfo, socket.socket.connect, socket.socket.connect_ex, ssl.SSLContext.load_verify_locations)
CHILD = "import requests; print(requests.get('https://storage.googleapis.com/storage/v1/b/made').json()['name'])"

def test_all_clients_reach_one_emulator(gcpx_cloud, gcpx_emulator):
    credentials, project = google.auth.default(["https://www.googleapis.com/auth/cloud-platform"])
    assert project == gcpx_cloud.project
    addresses = compute_v1.AddressesClient()
    where = {"project": project, "region": "us-east1"}
    addresses.insert(address_resource=compute_v1.Address(name="made"), **where).result()
    assert build("compute", "v1").addresses().get(address="made", **where).execute()["status"] == "RESERVED"
    url = f"https://compute.googleapis.com/compute/v1/projects/{project}/regions/us-east1/addresses/made"
    assert AuthorizedHttp(credentials).request("GET", url).status == 200
    PublisherClient(transport="rest").create_topic(name=f"projects/{project}/topics/made")
    storage.Client().create_bucket("made")
    assert subprocess.check_output([sys.executable, "-c", CHILD], text=True) == "made\\n"
    assert list(gcpx_emulator.resources("b")) == ["b/made"]
    assert gcpx_cloud.url == gcpx_emulator.url
    gcpx_cloud.reset()
    assert list(storage.Client().list_buckets()) == []

def test_other_hosts_of_google_are_refused(gcpx_cloud):
    reason = "cloudbuild.googleapis.com is not emulated; no call to Google leaves this machine."
    answer = requests.get("https://cloudbuild.googleapis.com/v1/projects/p/builds")
    assert (answer.status_code, answer.json()["error"]["message"]) == (501, reason)
    with pytest.raises(Exception, match=reason):
        build("cloudbuild", "v1").projects().builds().list(projectId="p").execute()

def test_nothing_is_led_anywhere_without_the_fixture(gcpx_emulator):
    assert not os.environ.get("HTTPS_PROXY")
    assert KEPT == (socket.getaddrinfo, socket.socket.connect, socket.socket.connect_ex, ssl.SSLContext.load_verify_locations)
"""
TEMPORARY = """
import sys
import tempfile
from pathlib import Path
import pytest

@pytest.fixture
def _installed(monkeypatch, tmp_path):
    for name in ("pulumi", "pulumi-resource-gcpx"):
        (tmp_path / name).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

def test_a_folder_of_a_workspace(_installed, gcpx_workspace, tmp_path):
    assert Path(tempfile.mkdtemp(dir=tempfile.gettempdir(), prefix="automation-")).parent == tmp_path

def test_a_folder_of_another_test(tmp_path):
    assert Path(tempfile.mkdtemp()).parent != tmp_path
"""
MISSING = """
import sys
import pytest
from gcpx_emulator.testing import running

class TestStopped:
    @pytest.fixture(scope="session")
    def _gcpx_emulator_server(self):
        with running() as stopped:
            pass
        return stopped

    def test_a_fixture(self, gcpx_emulator):
        pass

class TestNoCli:
    @pytest.fixture(autouse=True)
    def _path(self, monkeypatch, tmp_path):
        monkeypatch.setenv("PATH", str(tmp_path))

    def test_a_fixture(self, gcpx_workspace):
        pass

class TestNoPlugin:
    @pytest.fixture(autouse=True)
    def _path(self, monkeypatch, tmp_path):
        (tmp_path / "pulumi").touch(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "home"))
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    def test_a_fixture(self, gcpx_workspace):
        pass
"""


@pytest.fixture
def run(tmp_path):
    def run(code, *options, **variables):
        (tmp_path / "test_of_a_user.py").write_text(code)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        return subprocess.run(
            [sys.executable, "-m", "pytest", *OPTIONS, *options],
            cwd=tmp_path,
            # Other plugins, such as that of Hypothesis, take long to load.
            env={**environment, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **variables},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            timeout=HANGS,
        )

    return run


def _reasons(done):
    """Return the lines with errors; the whole output has them once, and no traceback."""
    assert "Traceback" not in done.stdout
    assert done.returncode == 1, done.stdout
    return re.findall(r"^(gcpx_\w+: .*)$", done.stdout, re.MULTILINE)


STRICT = """
import urllib.error, urllib.request

def test_unknown_names(gcpx_emulator):
    body = b'{"name": "a-bucket", "nmae": "x"}'
    head = {"Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"{gcpx_emulator.url}/storage/v1/b?project=p", body, head)
        ) as answer:
            assert answer.headers["X-Emulator-Ignored"] == "nmae"
    except urllib.error.HTTPError as error:
        error.close()
        assert error.code == 200, "refused"
"""


def test_unknown_names_are_refused_only_with_the_option(run, monkeypatch):
    assert "refused" in run(STRICT).stdout
    monkeypatch.setattr(sys.modules[__name__], "OPTIONS", OPTIONS[:-1])
    assert "1 passed" in run(STRICT).stdout


def test_each_test_has_a_clean_emulator_also_in_parallel(run):
    assert "4 passed" in run(ISOLATED, "-p", "xdist", "-n", "2").stdout


def test_the_plugin_loads_nothing_until_it_is_used(run):
    assert "1 passed" in run(UNUSED).stdout


def test_the_entry_point_is_the_module_that_tests_load():
    declared = tomllib.loads((ROOT / "provider/gcpx_emulator/pyproject.toml").read_text())

    assert declared["project"]["entry-points"]["pytest11"] == {OPTIONS[1]: OPTIONS[1]}


def test_a_port_that_is_in_use_is_named_in_one_line(run):
    with emulator() as host:
        port = host.rpartition(":")[2]
        done = run(ISOLATED, "-k", "0]", "--gcpx-emulator-port", port)

    (reason,) = _reasons(done)
    assert reason.startswith(f"gcpx_emulator: the emulator cannot open port {port}: ")
    assert reason.endswith("; 0 picks a free one")


def test_a_fixed_port_in_parallel_is_refused_in_one_line(run):
    done = run(ISOLATED, "-k", "0]", "--gcpx-emulator-port", "18095", "-p", "xdist", "-n", "2")

    assert _reasons(done) == ["gcpx_emulator: a fixed port needs one process: omit -n"]


def test_clients_reach_the_emulator_behind_a_proxy(run):
    proxy = dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"), "http://127.0.0.1:9")

    assert "1 passed" in run(PROXY, **proxy, NO_PROXY="", no_proxy="").stdout


def test_temporary_files_are_in_the_folder_of_the_test(run):
    assert "2 passed" in run(TEMPORARY).stdout


def test_what_is_missing_is_named_in_one_line(run):
    stopped, cli, plugin = _reasons(run(MISSING))

    assert re.fullmatch(
        r"gcpx_emulator: no emulator answers at [\d.:]+: .*; was it stopped, or did its process end\?", stopped
    )
    assert cli.startswith("gcpx_workspace: the Pulumi CLI is missing: `pulumi` is not on PATH")
    assert plugin.startswith("gcpx_workspace: the plugin is missing: pulumi-resource-gcpx is not on PATH, and ")
    assert plugin.endswith("/home has none; pip install pulumi-gcpx-provider")


def test_clients_that_a_program_creates_reach_the_emulator(run):
    without = dict.fromkeys(("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"), "")

    assert "3 passed" in run(CLOUD, **without).stdout


def test_the_example_of_the_guide_passes(run, tmp_path):
    program, test = re.findall(
        r"^```python\n(.*?)^```$",
        section("docs/testing.md", "A program that creates its own clients"),
        re.DOTALL | re.MULTILINE,
    )
    (tmp_path / "backups.py").write_text(program)

    assert "1 passed" in run(test).stdout
