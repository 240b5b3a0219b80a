"""The Containerfile: what it copies exists, and what it runs is accepted by the emulator."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from engines.clock import HANGS
from servers import plain_http
from workspace import ROOT

TEXT = (ROOT / "provider" / "gcpx_emulator" / "Containerfile").read_text()
INSTRUCTIONS = [line.split(maxsplit=1) for line in TEXT.replace("\\\n", "").splitlines() if re.match("[A-Z]", line)]


def _arguments(name):
    return [rest for instruction, rest in INSTRUCTIONS if instruction == name]


def test_what_is_copied_and_installed_exists():
    copied = [rest.split()[0] for rest in _arguments("COPY") if not rest.startswith("--from")]
    installed = re.findall(r"\./(provider/\w+)", " ".join(_arguments("RUN")))

    assert copied == ["tools/constraints.txt", "provider"]
    assert installed == ["provider/gcpx_filter", "provider/gcpx_emulator"]
    assert all((ROOT / path).exists() for path in copied)
    assert all((ROOT / path / "pyproject.toml").exists() for path in installed)


def test_it_runs_without_privileges_and_only_the_data_is_writable():
    assert _arguments("USER") == ["10001:10001"]
    assert _arguments("VOLUME") == ["/data"]
    assert f"chown {_arguments('USER')[0]} /data" in _arguments("RUN")[-1]


def test_the_command_answers_the_health_check(tmp_path):
    (entry,), (extra,) = (map(json.loads, _arguments(name)) for name in ("ENTRYPOINT", "CMD"))
    health = json.loads(_arguments("HEALTHCHECK")[0].partition("CMD ")[2])
    python, *options = (item.replace("/data/", f"{tmp_path}/") for item in entry + extra)
    assert (python, health[0], _arguments("EXPOSE")) == ("python", "python", [options[options.index("--port") + 1]])
    options[options.index("--port") + 1] = "0"  # the port of the container may be in use here
    with subprocess.Popen([sys.executable, *options], stdout=subprocess.PIPE, text=True) as process:
        try:
            port = process.stdout.readline().strip().rpartition(":")[2]
            check = health[2].replace(":8095/", f":{port}/")
            subprocess.run([sys.executable, "-c", check], check=True, timeout=HANGS)
            plain_http.post(f"http://127.0.0.1:{port}/_emulator/reset").raise_for_status()
        finally:
            process.terminate()

    assert (tmp_path / "emulator.sqlite").exists()
