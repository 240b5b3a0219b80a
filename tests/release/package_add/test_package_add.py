"""`pulumi package add` takes gcpx from a checkout, from a git address and from the folder of the plugin's archive."""

from __future__ import annotations

import json

import pytest
import yaml
from new_user import with_variables
from workspace import ROOT

from gcpx import __version__

pytestmark = pytest.mark.languages
ADDRESS = "git.example.com/acme/gcpx.git"


def _packages(user):
    return yaml.safe_load((user.program / "Pulumi.yaml").read_text())["packages"]


def test_a_checkout_is_added_and_runs(user, added_checkout, live):
    user.run("package", "add", str(added_checkout))

    assert _packages(user) == {"gcpx": str(added_checkout)}
    live(user)


def test_a_checkout_gets_one_environment_and_no_other_files(added_checkout):
    files = {path.name for path in added_checkout.iterdir()}

    assert files - {path.name for path in ROOT.iterdir()} <= {"venv"}
    assert (added_checkout / "venv").is_dir()


def test_a_git_address_is_added_and_runs(user, hosted, live):
    networked = with_variables(user, **hosted.variables)
    networked.run("package", "add", f"{ADDRESS}@v{__version__}")

    assert _packages(user) == {"gcpx": f"{ADDRESS}@v{__version__}"}
    assert any(path.startswith("/acme/gcpx.git/info/refs") for path in hosted.asked)
    live(user)


def test_the_schema_of_a_git_address_names_the_address(user, hosted):
    networked = with_variables(user, **hosted.variables)
    given = json.loads(networked.run("package", "get-schema", f"{ADDRESS}@v{__version__}").stdout)

    assert (given["version"], given["pluginDownloadURL"]) == (__version__, f"git://{ADDRESS}")
    assert given["resources"].keys() == json.loads((ROOT / "schema.json").read_text())["resources"].keys()
