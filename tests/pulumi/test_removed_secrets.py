"""The scripts of the recipe for CI that remove secrets from a stack's state and from its configuration."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from engines.clock import HANGS
from workspace import ROOT

CI = ROOT / "examples" / "ci"
STATE = runpy.run_path(str(CI / "remove_secrets.py"))
CONFIG = runpy.run_path(str(CI / "remove_config_secrets.py"))
SECRET = {STATE["SIGNATURE"]: STATE["SECRET"], "ciphertext": "v1:abc"}
EXPORTED = {"version": 3, "deployment": {"secrets_providers": {"type": "passphrase"}, "resources": []}}


@pytest.fixture
def run(tmp_path):
    def run(command, given="", **variables):
        return subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, **variables},
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=HANGS,
        )

    return run


def test_secrets_of_a_state_are_replaced_wherever_they_are():
    given, expected = ({"a": [found, {"b": found}], "c": 1} for found in (SECRET, STATE["REMOVED"]))
    provider = {"secrets_providers": STATE["PROVIDER"]}
    assert STATE["convert"](json.dumps({"deployment": {"resources": given}})) == {
        "deployment": {"resources": expected, **provider}
    }
    assert STATE["convert"](json.dumps(EXPORTED)) == {"version": 3, "deployment": {"resources": [], **provider}}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("", "stdin has no whole export; see the error of `pulumi stack export`"),
        (json.dumps(EXPORTED)[:-1], "stdin has no whole export; see the error of `pulumi stack export`"),
        ("[]", "stdin is not an export of a stack; pass what `pulumi stack export` writes"),
        ("{}", "stdin is not an export of a stack; pass what `pulumi stack export` writes"),
        ('{"deployment": null}', "the stack was never deployed, so it has no state; run `pulumi up` first"),
    ],
)
def test_what_is_no_export_is_an_error_in_one_line(run, given, reason):
    done = run([sys.executable, CI / "remove_secrets.py"], given)

    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"remove_secrets.py: {reason}\n")


@pytest.mark.parametrize("written", ["", json.dumps(EXPORTED)], ids=["nothing", "a whole export"])
def test_an_export_that_fails_leaves_the_kept_state(run, tmp_path, written):
    """The command of the README, with a CLI that fails."""
    (command,) = re.findall(r"```sh\n(\s*set -o pipefail.*?)```", (CI / "README.md").read_text(), re.DOTALL)
    (tmp_path / "state").mkdir()
    kept = tmp_path / "state" / "prod.json"
    kept.write_text("kept")
    (tmp_path / "remove_secrets.py").write_text((CI / "remove_secrets.py").read_text())
    cli = tmp_path / "pulumi"
    cli.write_text(f"#!/bin/sh\nprintf '%s' '{written}'\nexit 1\n")
    cli.chmod(0o755)
    path = os.pathsep.join((str(tmp_path), str(Path(sys.executable).parent), os.environ["PATH"]))
    done = run(["bash", "-c", command], PATH=path)

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert kept.read_text() == "kept"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("config:\n  a:\n    secure: v1:x:y+/==\n", {"a": "removed"}),
        ("config:\n  a: {secure: v1:x:y+/==}\n", {"a": "removed"}),
        ("config:\n  a: # the key\n    # of the service\n    secure: X # kept\n", {"a": "removed"}),
        ('config:\n  a:\n    "secure": X\n', {"a": "removed"}),
        ("config:\n  a:\n    'secure': 'X'\n", {"a": "removed"}),
        ("config:\r\n  a:\r\n    secure: X\r\n  b: 1\r\n", {"a": "removed", "b": 1}),
        ("config:\n  a:\n    secure: >-\n      X\n      Y\n  b: 1\n", {"a": "removed", "b": 1}),
        ("config:\n  a:\n    secure: |\n      X\n      Y\n", {"a": "removed"}),
        ("config:\n  a:\n    secure:\n      X\n", {"a": "removed"}),
        ("config:\n  a:\n    - secure: X\n    - b: {secure: X}\n", {"a": ["removed", {"b": "removed"}]}),
        ("config:\n  a: &key {secure: X}\n  b: *key\n", {"a": "removed", "b": "removed"}),
        ("\ufeffconfig: {a: {secure: X}}\n", {"a": "removed"}),
        ("config:\n  a: {secure: X, port: 1}\n  b: {secure: true}\n", {"a": {"secure": "X", "port": 1}, "b": {"secure": True}}),
    ],
)  # fmt: skip
def test_secrets_of_a_configuration_are_replaced_in_every_form(given, expected):
    assert yaml.safe_load(CONFIG["convert"](given.encode())) == {"config": expected}


def test_other_values_of_a_configuration_keep_their_form():
    plain = "config:\n  a: 12:30\n  b: 0123\n  c: yes\n  d: '5'\n  e: 2026-01-02\n  f: größer\n  g: 1.10\n"

    assert CONFIG["convert"](plain.encode()) == plain


def test_a_configuration_names_no_secrets_provider(run, tmp_path):
    file = tmp_path / "Pulumi.prod.yaml"
    file.write_text(
        "secretsprovider: gcpkms://k\nencryptedkey: CiQ=\nencryptionsalt: v1:a\nconfig:\n  encryptedkey: 1\n"
    )
    done = run([sys.executable, CI / "remove_config_secrets.py", file.name])

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert file.read_text() == "config:\n  encryptedkey: 1\n"


def test_a_stack_needs_no_configuration(run, tmp_path):
    (tmp_path / "Pulumi.empty.yaml").touch()
    for name in ("Pulumi.prod.yaml", "Pulumi.empty.yaml"):
        done = run([sys.executable, CI / "remove_config_secrets.py", name])
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    assert os.listdir(tmp_path) == ["Pulumi.empty.yaml"]  # noqa: PTH208 - names are enough


def test_a_configuration_that_is_not_yaml_is_an_error_in_one_line(run, tmp_path):
    (tmp_path / "Pulumi.prod.yaml").write_text("config: {a\n")
    done = run([sys.executable, CI / "remove_config_secrets.py", "Pulumi.prod.yaml"])

    assert done.returncode == 1
    assert re.fullmatch(r"remove_config_secrets.py: Pulumi.prod.yaml is not valid YAML: .*\n", done.stderr)
    assert (tmp_path / "Pulumi.prod.yaml").read_text() == "config: {a\n"
