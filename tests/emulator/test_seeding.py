"""`--seed`: what an emulator begins with."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from engines.clock import HANGS
from servers import plain_http
from workspace import emulator

BUCKET = {"method": "POST", "path": "/storage/v1/b?project=demo-project", "body": {"name": "uploads"}}
TOPIC = {"method": "PUT", "path": "/v1/projects/demo-project/topics/uploads", "body": {}}
DISK = {
    "method": "POST",
    "path": "/compute/v1/projects/demo-project/zones/us-east1-b/disks",
    "body": {"name": "data", "sizeGb": "10"},
}


def _file(folder, content):
    file = folder / "seed.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(file)


def _counts(host):
    return plain_http.get(f"http://{host}/_emulator/resources").json()


def _refused(*options):
    command = [sys.executable, "-m", "gcpx_emulator", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS)
    assert done.stdout == "", "an emulator that is not seeded does not serve"
    assert done.returncode == 2
    return done.stderr


def test_an_emulator_begins_with_what_the_requests_create(tmp_path):
    with emulator("--seed", _file(tmp_path, [BUCKET, TOPIC, DISK]), "--latency", "3600") as host:
        counts = _counts(host)

    assert counts == {"b": 1, "disks": 1, "topics": 1}


def test_an_emulator_with_resources_is_not_seeded_again(tmp_path, capfd):
    options = ("--seed", _file(tmp_path, [BUCKET]), "--data", str(tmp_path / "data.sqlite"))
    with emulator(*options) as host:
        plain_http.delete(f"http://{host}/storage/v1/b/uploads")
        plain_http.send("PUT", f"http://{host}{TOPIC['path']}", json={})
    with emulator(*options) as host:
        assert _counts(host) == {"topics": 1}

    assert "seed.json is not used, because the emulator has resources already" in capfd.readouterr().err


def test_an_emulator_begins_with_a_saved_state(tmp_path):
    saved, seed = tmp_path / "saved", tmp_path / "data.sqlite"
    with emulator("--data", str(seed)) as host:
        plain_http.post(f"http://{host}{BUCKET['path']}", json=BUCKET["body"])
        saved.write_bytes(plain_http.get(f"http://{host}/_emulator/state").content)
    for file in (saved, seed):
        before = file.read_bytes()
        with emulator("--seed", str(file)) as host:
            plain_http.send("PUT", f"http://{host}{TOPIC['path']}", json={})
            assert _counts(host) == {"b": 1, "topics": 1}
        assert file.read_bytes() == before, "a seed is only read"


@pytest.mark.parametrize(("content", "problems"), [
    ("{", ["seed.json must be JSON"]),
    ({}, ["seed.json must be a list of requests, such as [{"]),
    (
        [BUCKET, 1, {"methd": "GET", "path": "storage/v1/b"}],
        [
            "seed.json[1] must be an object with method, path, body",
            "seed.json[2].methd is unknown; a request has method, path, body",
            "seed.json[2].method must be DELETE, GET, PATCH, POST or PUT",
            "seed.json[2].path must begin with a slash",
        ],
    ),
    (
        [BUCKET, BUCKET, {**DISK, "body": {"name": "Wrong!"}}],
        ["seed.json[1]: POST /storage/v1/b: 409: ", "seed.json[2]: POST /compute/v1/projects/demo-project/zones/us-east1-b/disks: 400: "],
    ),
    ([{**BUCKET, "body": {"name": "\x1b[31mred\x07"}}], [r"seed.json[0]: POST /storage/v1/b: 400: Invalid bucket name: '\x1b[31mred\x07'"]),
    ([{**BUCKET, "path": "/storage/v1/b/%1b[31mred"}], [r"seed.json[0]: POST /storage/v1/b/\x1b[31mred: 405: "]),
    ([{**BUCKET, "\x1b[31mred": 1}], [r"seed.json[0].\x1b[31mred is unknown"]),
    ([{**BUCKET, "path": "/\x1b[31mred"}], ["seed.json[0].path is no path of a URL: Invalid non-printable ASCII character"]),
    ("SQLite format 3\0 and more", ["seed.json: PUT /_emulator/state: 400: The body of a PUT to /_emulator/state must be"]),
])  # fmt: skip
def test_a_wrong_seed_is_refused_with_all_that_is_wrong(tmp_path, content, problems):
    first, *lines = _refused("--seed", _file(tmp_path, content)).splitlines()

    assert first == "gcpx-emulator: the seed cannot be used:"
    assert len(lines) == len(problems)
    assert all(map(str.isprintable, lines)), "a file of others cannot command the terminal"
    for line, problem in zip(lines, problems, strict=True):
        assert line.startswith(str(tmp_path))
        assert problem in line


def test_a_missing_seed_is_named(tmp_path):
    assert f"{tmp_path / 'none.json'} cannot be read: No such file" in _refused("--seed", str(tmp_path / "none.json"))


def test_a_refused_seed_leaves_nothing(tmp_path):
    data = str(tmp_path / "data.sqlite")
    _refused("--seed", _file(tmp_path, [BUCKET, BUCKET]), "--data", data)
    with emulator("--data", data) as host:
        assert _counts(host) == {}


def _run(tmp_path, requests, program):
    """Run a program of Python on an emulator that begins with these requests."""
    command = [sys.executable, "-m", "gcpx_emulator", "run", "--seed", _file(tmp_path, requests), "--"]
    return subprocess.run(
        [*command, sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=HANGS
    )


def test_a_command_runs_on_a_seeded_emulator(tmp_path):
    bucket = "https://storage.googleapis.com/storage/v1/b/uploads"
    done = _run(tmp_path, [BUCKET], f"import urllib.request as r; print(r.urlopen('{bucket}').status)")

    assert (done.returncode, done.stdout) == (0, "200\n")


def test_a_command_does_not_run_with_a_wrong_seed(tmp_path):
    done = _run(tmp_path, [1], "print('ran')")

    assert done.returncode == 126
    assert done.stdout == ""
    assert "seed.json[0] must be an object" in done.stderr
