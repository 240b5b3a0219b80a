"""The installed plugin works when it is started as the engine starts it: it prints its port and obeys signals.

Holds reliability.md: "If the CLI was killed".
"""

from __future__ import annotations

import os
import pty
import signal
import socket
import subprocess

import grpc
import pytest
from engines import driver
from engines.clock import HANGS
from google.protobuf import empty_pb2
from workspace import SCRIPTS

from gcpx import __version__


@pytest.fixture
def plugin():
    command = [str(SCRIPTS / "pulumi-resource-gcpx"), "--logtostderr", "-v=9", "127.0.0.1:1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def _stub(channel):
    return driver.proto.provider_grpc.ResourceProviderStub(channel)


def test_the_first_line_is_the_port_and_the_process_ends_quietly(plugin):
    with grpc.insecure_channel(f"127.0.0.1:{int(plugin.stdout.readline())}") as channel:
        assert (
            _stub(channel).GetPluginInfo(empty_pb2.Empty(), wait_for_ready=True, timeout=HANGS).version == __version__
        )
        _stub(channel).Cancel(empty_pb2.Empty())
        assert _stub(channel).GetPluginInfo(empty_pb2.Empty()).version == __version__
    plugin.send_signal(signal.SIGINT)

    assert plugin.wait(timeout=HANGS) == 0
    assert plugin.stdout.read() == ""
    assert "Traceback" not in plugin.stderr.read()


def test_a_request_of_several_megabytes_is_accepted(plugin):
    with grpc.insecure_channel(
        f"127.0.0.1:{int(plugin.stdout.readline())}", options=[("grpc.max_receive_message_length", -1)]
    ) as channel:
        news = driver.struct({"project": "p" * (8 << 20)})
        request = driver.rpc.CheckRequest(urn="urn:pulumi:dev::t::pulumi:providers:gcpx::p", news=news)
        answer = _stub(channel).CheckConfig(request, wait_for_ready=True, timeout=HANGS)

    assert answer.inputs == news


@pytest.fixture
def engine_socket():
    """A socket at which an engine listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(HANGS)
        yield listening


def _accept(listening):
    connection, _ = listening.accept()
    return connection


def test_the_process_ends_when_its_engine_was_killed(engine_socket):
    port = engine_socket.getsockname()[1]
    with _start(f"127.0.0.1:{port}") as process:
        process.stdout.readline()
        connection = _accept(engine_socket)
        engine_socket.close()
        connection.close()

        assert process.wait(timeout=HANGS) == 0
        assert "Traceback" not in process.stderr.read()


def test_the_process_connects_again_if_its_engine_closes_the_connection(engine_socket):
    port = engine_socket.getsockname()[1]
    with _start(f"127.0.0.1:{port}") as process:
        process.stdout.readline()
        _accept(engine_socket).close()
        with _accept(engine_socket):
            assert process.poll() is None
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=HANGS) == 0


def _start(*arguments, stderr=subprocess.PIPE):
    command = [str(SCRIPTS / "pulumi-resource-gcpx"), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)


def test_someone_who_starts_it_by_hand_is_told_what_it_is_and_how_to_debug_it():
    terminal, stderr = pty.openpty()
    with _start(stderr=stderr) as process, os.fdopen(terminal) as shown:
        port = int(process.stdout.readline())
        said = "".join(shown.readline() for _ in range(5))
        process.send_signal(signal.SIGINT)
    os.close(stderr)

    assert port
    assert f"pulumi-resource-gcpx {__version__} is a plugin: the Pulumi CLI starts it" in said
    assert "docs/installation.md" in said
    assert "PULUMI_DEBUG_PROVIDERS=gcpx:PORT pulumi up" in said


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_an_option_prints_and_ends(option):
    with _start(option) as process:
        said, errors = process.communicate(timeout=HANGS)

    assert said.startswith(f"pulumi-resource-gcpx {__version__}")
    assert (process.returncode, errors) == (0, "")
