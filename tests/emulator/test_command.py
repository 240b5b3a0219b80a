"""The command `gcpx-emulator`: its options, and where it listens."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from importlib.metadata import version

import pytest
from engines.clock import HANGS
from servers import plain_http
from workspace import ROOT, emulator

from gcpx_emulator.core.store import Store


def test_help_names_the_options():
    done = subprocess.run([sys.executable, "-m", "gcpx_emulator", "--help"], capture_output=True, text=True, check=True)

    assert all(
        option in done.stdout for option in ("--port", "--host", "--latency", "--data", "--seed", "--log", "--strict")
    )


@pytest.mark.parametrize("latency", ["-1", "inf", "nan", "x"])
def test_a_latency_that_is_no_duration_is_refused(latency):
    command = [sys.executable, "-m", "gcpx_emulator", f"--latency={latency}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS)

    assert done.returncode == 2
    assert f"--latency: {latency} is not a number of seconds" in done.stderr


def test_the_command_says_where_it_listens_and_keeps_its_data(tmp_path):
    file = str(tmp_path / "data.sqlite")
    with emulator("--data", file) as host:
        assert plain_http.post(f"http://{host}/storage/v1/b?project=p", json={"name": "kept-bucket"}).status_code == 200
    with emulator("--data", file) as host:
        assert plain_http.get(f"http://{host}/storage/v1/b/kept-bucket").status_code == 200


def test_only_a_strict_emulator_refuses_unknown_names():
    command, seen = [sys.executable, "-m", "gcpx_emulator"], []
    for options in ([], ["--strict"]):
        process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with process:
            url = process.stdout.readline().strip().removeprefix("listening on ")
            answer = plain_http.post(f"{url}/storage/v1/b?project=p", json={"name": "a-bucket", "project": "p"})
            process.terminate()
            seen.append((answer.status_code, "ignored unknown names" in process.stderr.read()))

    assert seen == [(200, True), (400, False)]


@pytest.mark.skipif(os.name != "posix", reason="permissions of files are those of POSIX")
def test_only_the_user_can_read_a_new_file_and_its_journals(tmp_path):
    file = tmp_path / "data.sqlite"
    with emulator("--data", str(file)) as host:
        plain_http.post(f"http://{host}/storage/v1/b?project=demo", json={"name": "uploads"})
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}

    assert set(modes.values()) == {0o600}, modes
    assert file.name in modes


@pytest.mark.skipif(os.name != "posix", reason="permissions of files are those of POSIX")
@pytest.mark.parametrize("is_link", [True, False], ids=["a link to a missing file", "a file that all may write"])
def test_only_the_user_can_read_the_file_that_is_used(tmp_path, is_link):
    file, given = tmp_path / "data.sqlite", tmp_path / "given"
    if is_link:
        given.symlink_to(file)
    else:
        file.touch()
        file.chmod(0o666)
        given = file
    with emulator("--data", str(given)) as host:
        plain_http.post(f"http://{host}/storage/v1/b?project=demo", json={"name": "uploads"})
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}

    assert set(modes.values()) == {0o600}, modes


@pytest.mark.skipif(os.name != "posix", reason="permissions of files are those of POSIX")
def test_a_file_whose_permissions_cannot_be_changed_is_refused(tmp_path, monkeypatch):
    def refuse(*_args, **_options):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    file = tmp_path / "data.sqlite"
    file.touch()
    file.chmod(0o666)
    monkeypatch.setattr(os, "chmod", refuse)
    with pytest.raises(PermissionError):
        Store(str(file))


def test_a_file_that_is_no_database_is_refused_in_one_line(tmp_path):
    file = tmp_path / "data.sqlite"
    file.write_text("this is not a database, and it is longer than a header" * 10)
    for path in (file, tmp_path / "missing" / "data.sqlite"):
        command = [sys.executable, "-m", "gcpx_emulator", "--data", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS)

        assert done.returncode == 2
        assert f"{path} cannot be used: " in done.stderr
        assert "choose another file with --data" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_file_that_another_emulator_uses_is_refused(tmp_path):
    file = str(tmp_path / "data.sqlite")
    with emulator("--data", file):
        command = [sys.executable, "-m", "gcpx_emulator", "--data", file]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS)

    assert done.returncode == 2
    assert (
        done.stderr
        == f"gcpx-emulator: {file} cannot be used: another emulator uses it; choose another file with --data\n"
    )


def test_the_command_says_its_version():
    command = [sys.executable, "-X", "importtime", "-m", "gcpx_emulator", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout == f"gcpx-emulator {version('gcpx-emulator')}\n"
    assert "argparse" in done.stderr
    assert "uvicorn" not in done.stderr, "what serves is loaded by a command that serves"


def test_a_port_that_is_in_use_is_named():
    with emulator() as host:
        command = [sys.executable, "-m", "gcpx_emulator", "--port", host.rpartition(":")[2]]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS)

    assert done.returncode == 1
    assert "cannot be opened" in done.stderr
    assert "--port" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_number_outside_the_range_of_ports_is_named():
    command = [sys.executable, "-m", "gcpx_emulator", "--port", "99999"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "port 99999 cannot be opened" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("given", "port"), [((), "8095"), (("PORT=8123",), "8123")])
def test_make_emulator_takes_a_port(given, port):
    done = subprocess.run(
        ["make", "--dry-run", "--silent", "emulator", *given],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )

    assert f"gcpx-emulator --port '{port}'\n" in done.stdout


@pytest.mark.parametrize("address", ["192.0.2.1", "no such host"])
def test_an_address_of_another_machine_is_named(address):
    command = [sys.executable, "-m", "gcpx_emulator", "--host", address]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS)

    assert done.returncode == 1
    assert address in done.stderr
    assert "--host" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_command_listens_where_it_is_told():
    with emulator("--host", "0.0.0.0") as host:
        port = host.removeprefix("0.0.0.0:")

        assert plain_http.get(f"http://127.0.0.1:{port}/_emulator/clock").status_code == 200


def test_an_allowed_name_is_answered_in_any_case():
    with emulator("--allow-host", "Emulator.Example") as host:
        answer = plain_http.get(f"http://{host}/_emulator/clock", headers={"Host": "emulator.EXAMPLE"})

    assert answer.status_code == 200


@pytest.mark.parametrize("host", ["", "<broadcast>"])
def test_what_sockets_take_for_several_addresses_is_refused(host):
    command = [sys.executable, "-m", "gcpx_emulator", "--host", host]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS)

    assert done.returncode == 1
    assert f"{host!r} is not an address of this machine" in done.stderr
