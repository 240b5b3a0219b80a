"""The plugin's watch of its engine does not take a problem of its own for the end of the engine."""

from __future__ import annotations

import subprocess
import sys

from engines.clock import HANGS

_PROGRAM = """
import queue, resource, socket, sys, threading
from gcpx.protocol.engine import when_ended

seen = queue.Queue()

def observe(event, _):
    if event == "socket.__new__" and threading.current_thread().name == "engine watch":
        seen.put("attempt")

engine = socket.create_server(("127.0.0.1", 0))
sys.addaudithook(observe)
when_ended(f"127.0.0.1:{engine.getsockname()[1]}", lambda: seen.put("ended"))
connection, _ = engine.accept()
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))  # as many as are always open
connection.close()
third = [seen.get() for _ in range(3)][-1]
print(third)
if third == "ended":
    sys.exit()
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
connection, _ = engine.accept()
engine.close()
connection.close()
print(next(word for word in iter(seen.get, None) if word == "ended"))
"""


def test_too_many_open_files_are_not_the_end_of_the_engine():
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=HANGS, check=False)

    assert done.stdout.splitlines() == ["attempt", "ended"], done.stderr
