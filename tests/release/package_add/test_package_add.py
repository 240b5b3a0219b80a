"""`pulumi package add` takes gcpx from a checkout and from a git address."""

from __future__ import annotations

import json

import pytest
import yaml
from workspace import ROOT

from gcpx import __version__

pytestmark = pytest.mark.languages
ADDRESS = "git.example.com/acme/gcpx.git"


def _packages(user):
    return yaml.safe_load((user.program / "Pulumi.yaml").read_text())["packages"]


def test_a_checkout_is_added_and_runs(user_of_checkout, checkout, live):
    assert _packages(user_of_checkout) == {"gcpx": str(checkout)}
    live(user_of_checkout)


def test_a_checkout_gets_one_environment_and_no_other_files(user_of_checkout, checkout):
    files = {path.name for path in checkout.iterdir()}

    assert files - {path.name for path in ROOT.iterdir()} <= {"venv", "__pycache__"}, "Python caches what it runs"
    assert (checkout / "venv").is_dir()


def test_a_git_address_is_added_and_runs(user_of_address, hosted, live):
    assert _packages(user_of_address) == {"gcpx": f"{ADDRESS}@v{__version__}"}
    assert any(path.startswith("/acme/gcpx.git/info/refs") for path in hosted.asked)
    live(user_of_address)


def test_the_schema_of_a_git_address_names_the_address(user_of_address):
    given = json.loads(user_of_address.run("package", "get-schema", f"{ADDRESS}@v{__version__}").stdout)

    assert (given["version"], given["pluginDownloadURL"]) == (__version__, f"git://{ADDRESS}")
    assert given["resources"].keys() == json.loads((ROOT / "schema.json").read_text())["resources"].keys()
