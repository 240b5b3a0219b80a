"""The wheels: each holds one package, installs alone with only what it needs, and works."""

from __future__ import annotations

import ast
import email
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from contextlib import ExitStack, contextmanager
from pathlib import Path

import grpc
import httpx
import pytest
from cli import run_wide
from engines import driver
from engines.clock import HANGS
from servers.pushing import AUDIENCE, EMAIL, NOW, PEM, token
from workspace import ROOT

from gcpx import __version__
from release import build

pytestmark = pytest.mark.languages
PACKAGES = {
    "gcpx-emulator": "gcpx_emulator",
    "gcpx-filter": "gcpx_filter",
    "gcpx-http": "gcpx_http",
    "gcpx-push": "gcpx_push",
    "pulumi-gcpx": "pulumi_gcpx",
    "pulumi-gcpx-provider": "gcpx",
}
"""The package of each distribution."""
WRITTEN = [name for name in PACKAGES if name != "pulumi-gcpx"]
"""Those that are written here; Pulumi's generator writes the requirements of the SDK."""
LOADED_BY_NAME = {"gcpx-emulator": {"google-api-python-client", "httptools"}, "pulumi-gcpx-provider": {"pulumi"}}
"""What a package uses without an import statement: Google's API descriptions, what uvicorn loads, the protocol's messages."""
_GRPC = {"google-cloud-pubsub", "googleapis-common-protos", "grpc-google-iam-v1", "grpcio", "protobuf"}
OPTIONAL = {"gcpx-emulator": {"fastavro", "google-auth", "pulumi", "pytest", *_GRPC}}
"""What a package imports only for users who have it: for the emulator's pytest plugin and what its fixtures give, for gRPC and for schemas."""
BESIDE = {"pulumi-gcpx-provider": {"pulumi_gcpx_provider/pulumi-plugin.json"}}
"""Files outside the package; this one is found by the distribution's name."""
AROUND = {"Containerfile", "LICENSE", "README.md", "pyproject.toml"}
"""Files in a package's folder that describe the distribution."""
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
"""Without PYTHONPATH, only what is installed can be imported."""


@pytest.fixture(scope="session")
def wheels(tmp_path_factory):
    """The wheels, built as `make build` does, by the name of the distribution."""

    def built():
        folder = tmp_path_factory.mktemp("dist")
        build.build(folder)
        return folder

    folder = run_wide.once_in_a_run(tmp_path_factory, "wheels", built)
    with ExitStack() as opened:
        yield {
            path.name.partition("-")[0].replace("_", "-"): opened.enter_context(zipfile.ZipFile(path))
            for path in folder.iterdir()
        }


def _metadata(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return email.message_from_bytes(wheel.read(name))


def test_every_distribution_has_a_wheel_of_the_same_version(wheels):
    versions = {name: _metadata(wheel)["Version"] for name, wheel in wheels.items()}

    assert versions == dict.fromkeys(PACKAGES, __version__)


def test_no_file_is_in_two_wheels(wheels):
    names = [name for wheel in wheels.values() for name in wheel.namelist()]

    assert len(names) == len(set(names))


@pytest.mark.parametrize("distribution", PACKAGES)
def test_a_wheel_holds_its_whole_package_and_nothing_else(wheels, distribution):
    package, names = PACKAGES[distribution], set(wheels[distribution].namelist())
    folder = ROOT / ("sdk/python" if package == "pulumi_gcpx" else "provider") / package
    files = {path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    source = {f"{package}/{path.relative_to(folder)}" for path in files if path.name not in AROUND}
    inside = {name for name in names if name.startswith(f"{package}/")}

    assert inside == source | ({"gcpx/schema.json"} if package == "gcpx" else set())
    assert f"{package}/py.typed" in inside
    assert BESIDE.get(distribution, set()) <= names
    assert {name.partition("/")[0] for name in names - inside - BESIDE.get(distribution, set())} == {
        f"{distribution.replace('-', '_')}-{__version__}.dist-info"
    }


@pytest.mark.parametrize("distribution", PACKAGES)
def test_a_wheel_has_a_description_and_a_licence(wheels, distribution):
    metadata = _metadata(wheels[distribution])

    assert metadata["Summary"]
    assert metadata.get_payload().strip()
    assert "Apache-2.0" in (metadata["License-Expression"], metadata["License"])


def _normalized(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def _imports(wheel):
    """Yield the modules that each import may mean: `from a import b` means `a`, or `a.b` if that is a module."""
    for name in wheel.namelist():
        for node in ast.walk(ast.parse(wheel.read(name))) if name.endswith(".py") else ():
            if isinstance(node, ast.Import):
                yield from ({alias.name} for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}


@pytest.fixture(scope="session")
def owners():
    """The distribution of every module that is installed here, or in this checkout."""
    modules = {
        str(file).removesuffix("/__init__.py").split(".")[0].replace("/", "."): _normalized(distribution.name)
        for distribution in importlib.metadata.distributions()
        for file in distribution.files or ()
        if file.suffix in {".py", ".so"}
    }
    return modules | {package: distribution for distribution, package in PACKAGES.items()}


@pytest.mark.parametrize("distribution", WRITTEN)
def test_a_distribution_requires_exactly_what_its_package_imports(wheels, owners, distribution):
    required = _metadata(wheels[distribution]).get_all("Requires-Dist")
    named = {_normalized(re.match(r"[\w.-]+", line)[0]) for line in required if "extra ==" not in line}
    used = set(LOADED_BY_NAME.get(distribution, ()))
    for modules in _imports(wheels[distribution]):
        top = min(modules).split(".")[0]
        if top not in sys.stdlib_module_names and top != PACKAGES[distribution]:
            used |= {owners[module] for module in modules & owners.keys()} or {owners[top]}

    assert named == used - OPTIONAL.get(distribution, set())


class Installed:
    """A virtual environment with one distribution and what it requires."""

    def __init__(self, folder, wheel, constraints):
        self.folder = folder
        venv.create(folder)
        name = Path(wheel.filename).name.partition("-")[0]
        command = [sys.executable, "-m", "pip", "--python", self.program("python"), "install", name, "--quiet"]
        options = ["--no-compile", "--disable-pip-version-check", "--find-links", Path(wheel.filename).parent]
        subprocess.run([*command, *options, "--constraint", constraints], check=True, env=ENVIRONMENT)

    def program(self, name):
        return self.folder / "bin" / name

    def run(self, code, *arguments):
        """Run Python code in the environment; return the JSON that it prints."""
        command = [self.program("python"), "-c", code, *arguments]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=ENVIRONMENT, cwd=self.folder)
        return json.loads(done.stdout)

    @contextmanager
    def serving(self, name):
        """Start a program; return the first line that it prints."""
        with subprocess.Popen(
            [self.program(name)], stdout=subprocess.PIPE, env=ENVIRONMENT, cwd=self.folder
        ) as process:
            try:
                yield process.stdout.readline().decode().strip()
            finally:
                process.kill()

    def distributions(self):
        names = "[distribution.name for distribution in importlib.metadata.distributions()]"
        return set(map(_normalized, self.run(f"import importlib.metadata, json; print(json.dumps({names}))")))


@pytest.fixture
def installed(request, tmp_path, wheels, constraints):
    return Installed(tmp_path / "environment", wheels[request.param], constraints)


def alone(distribution):
    """Give a test the distribution, installed in a fresh environment."""
    return pytest.mark.parametrize("installed", [distribution], indirect=True)


VERIFY = """
import json, sys
from gcpx_push import Certificates, PushVerifier

audience, email, now, pem, token = sys.argv[1:]
verifier = PushVerifier(audience, email, certificates=Certificates.given({"one": pem}), now=lambda: float(now))
print(json.dumps(verifier.verify(token).email))
"""


@alone("gcpx-push")
def test_the_push_library_verifies_a_token_without_grpc_and_pulumi(installed):
    assert installed.run(VERIFY, AUDIENCE, EMAIL, str(NOW), PEM, token()) == EMAIL
    assert not installed.distributions() & {"grpcio", "protobuf", "pulumi", "pulumi-gcpx-provider", "gcpx-filter"}


@alone("gcpx-filter")
def test_the_filter_language_reads_a_filter(installed):
    code = "import gcpx_filter, json; print(json.dumps(gcpx_filter.parse('name = web').value))"

    assert installed.run(code) == "web"
    assert installed.distributions() == {"attrs", "gcpx-filter", "lark"}


@alone("gcpx-emulator")
def test_the_emulator_answers_a_request(installed):
    with installed.serving("gcpx-emulator") as line:
        address = line.removeprefix("listening on ")
        answer = httpx.get(f"{address}/compute/v1/projects/p/regions", timeout=HANGS, trust_env=False)

    assert answer.json()["kind"] == "compute#regionList"
    assert not installed.distributions() & {"grpcio", "pulumi", "pulumi-gcpx-provider", "gcpx-push"}


@alone("pulumi-gcpx-provider")
def test_the_plugin_gives_its_schema(installed):
    with (
        installed.serving("pulumi-resource-gcpx") as port,
        grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.max_receive_message_length", -1)]) as channel,
    ):
        stub = driver.proto.provider_grpc.ResourceProviderStub(channel)
        answer = stub.GetSchema(driver.rpc.GetSchemaRequest(), wait_for_ready=True, timeout=HANGS)

    assert answer.schema == (ROOT / "schema.json").read_text()
    assert not installed.distributions() & {"gcpx-emulator", "google-api-python-client", "starlette", "uvicorn"}


PLUGIN_FILE = """
import importlib.util, json, pathlib, sys
(folder,) = importlib.util.find_spec(sys.argv[1]).submodule_search_locations
print(pathlib.Path(folder, "pulumi-plugin.json").read_text())
"""


@alone("pulumi-gcpx-provider")
def test_a_program_beside_the_plugin_requires_no_plugin_named_like_the_distribution(installed):
    assert installed.run(PLUGIN_FILE, "pulumi_gcpx_provider") == {"resource": False}


@alone("pulumi-gcpx")
def test_the_sdk_is_imported(installed):
    code = "import json, pulumi_gcpx; print(json.dumps(pulumi_gcpx._utilities.get_version()))"

    assert installed.run(code) == __version__
    assert not installed.distributions() & {"google-auth", "httpx", "pulumi-gcpx-provider", *PACKAGES} - {"pulumi-gcpx"}
