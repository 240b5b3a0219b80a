"""Nothing that the plugin's process writes to stderr shows a secret: log messages and tracebacks.

Holds SECURITY.md: "They never appear in clear".
"""

from __future__ import annotations

import subprocess
import sys

from engines.clock import HANGS
from secret_values.planted_secrets import shown

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
