"""Nothing that the plugin's process writes to stderr shows a secret: log messages, tracebacks and crash dumps.

Holds SECURITY.md: "They never appear in clear".
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import grpc
from engines import driver
from engines.clock import HANGS
from engines.driver import secret, struct
from secret_values.planted_secrets import shown
from values.programs import TEMPLATE, template

from gcpx import __version__

HIDDEN = "mQ7xV9tZ3Lp0Wd2K"
START = f"""
import logging, sys, threading, warnings
from gcpx.protocol.standard_error import hide_values
hide_values()
hidden = "{HIDDEN}"
class Unraisable:
    def __del__(self): raise ValueError(hidden)
def fail(*_): raise ValueError(hidden)
"""
WAYS = """
thread = threading.Thread(target=fail); thread.start(); thread.join()
value = Unraisable(); del value
try: fail()
except ValueError: logging.getLogger("grpc._server").exception("failed: %s", hidden)
logging.getLogger("google.auth").warning("refused %s", hidden)
logging.getLogger("google.auth").warning(f"sent Bearer {hidden}{hidden}")
warnings.warn(hidden)
try: fail()
except ValueError as error: raise KeyError(hidden) from error
"""


def test_what_goes_wrong_is_reported_without_values():
    command = [sys.executable, "-c", START + WAYS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS)

    for words in (
        "gcpx: unexpected ValueError",
        "in __del__",
        "ERROR grpc._server: failed: %s\nunexpected ValueError",
        "WARNING google.auth: refused %s",
        "sent Bearer [secret]",
        "gcpx: UserWarning in <string>",
        "gcpx: unexpected KeyError",
    ):
        assert words in done.stderr, done.stderr
    assert not shown(done.stderr, HIDDEN), done.stderr


def test_the_plugin_says_its_version():
    command = [sys.executable, "-m", "gcpx", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANGS)

    assert done.stdout == f"pulumi-resource-gcpx {__version__}\n"


def test_a_crash_dump_shows_no_secret():
    command = [sys.executable, "-m", "gcpx", "--logtostderr", "-v=9", "127.0.0.1:1"]
    environment = os.environ | {"PYTHONFAULTHANDLER": "1", "PYTHONDEVMODE": "1", "GRPC_VERBOSITY": "ERROR"}
    with (
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        ) as process,
        grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}") as channel,
    ):
        request = driver.rpc.CheckRequest(
            urn=f"urn:pulumi:dev::test::{TEMPLATE}::web",
            news=struct(template(machineType=secret(HIDDEN), description=secret(HIDDEN))),
        )
        driver.proto.provider_grpc.ResourceProviderStub(channel).Check(request, wait_for_ready=True, timeout=HANGS)
        process.send_signal(signal.SIGABRT)
        said = process.stderr.read()

    assert "Fatal Python error: Aborted" in said
    assert not shown(said, HIDDEN)
