"""Plugins that are forked from a process with all modules loaded, so that the CLI's plugins start at once.

The CLI starts a plugin several times for each command, and loading the modules takes most of that. Here, the plugin that
is installed is a small script, which hands its arguments, environment and output over to a fork. The fork serves in the
same way as `gcpx.__main__`; signals, and the end of the script, reach it. `tests/test_plugin.py`, `tests/release`,
`tests/pulumi/test_installation.py` and others start the plugin as users have it.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from engines.clocked import ClockedProvider

import gcpx.config  # the plugin loads these modules and the classes below when they are first used
import gcpx.gcp.transport
import gcpx.protocol.servicer  # noqa: F401
from gcpx.__main__ import main
from gcpx.protocol.server import serve
from gcpx.protocol.standard_error import hide_values
from gcpx.provider import FUNCTIONS, RESOURCES, function_class, resource_class

HURRIED = "GCPX_TESTS_HURRIED"
"""The environment variable that makes the pauses of a plugin end at once."""
_LONGEST = 1 << 20
"""The greatest length of a message with arguments and environment."""
_SCRIPT = """\
#!{python} -IS
# Serves as the plugin: tests/support/cli/forked_plugin.py.
import _socket, array, marshal, os, signal, sys
fork = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
fork.connect({path!r})
started = marshal.dumps((sys.argv, dict(os.environ), os.getcwd()))
fork.sendmsg([started], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: fork.send(bytes([number])))
fork.recv(1)
"""


@contextlib.contextmanager
def forking(plugin: Path) -> Iterator[None]:
    """Let the installed plugin, given by the path of its program, be forked during the block."""
    variables = {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_CONFIG"}
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/plugins"
        command = [sys.executable, __file__, path]
        search = os.pathsep.join(sys.path)
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**variables, "PYTHONPATH": search}
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            plugin.write_text(_SCRIPT.format(python=sys.executable, path=path))
            yield
            process.communicate()


def _fork_plugins(path: str) -> None:
    """Fork a plugin for each script that connects, until stdin ends."""
    for token in RESOURCES:
        resource_class(token)
    for token in FUNCTIONS:
        function_class(token)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ^C ends the tests, which end this process
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(path)
        listening.listen(128)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while listening in select.select([listening, sys.stdin], [], [])[0]:
            script, _ = listening.accept()
            with script:
                if os.fork() == 0:
                    listening.close()
                    _serve(script)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _serve(script: socket.socket) -> None:
    """Be the plugin that a script stands for."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    message, outputs, _, _ = socket.recv_fds(script, _LONGEST, 3)
    sys.argv, variables, folder = marshal.loads(message)
    for number, output in enumerate(outputs):
        os.dup2(output, number)
        os.close(output)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    threading.Thread(target=_obey, args=(script,), daemon=True).start()
    _be_plugin(variables)
    sys.stdout.flush()
    os._exit(0)


def _be_plugin(variables: Mapping[str, str]) -> None:
    if HURRIED in variables:
        hide_values()
        serve(ClockedProvider(), sys.argv[-1])
    else:
        main()


def _obey(script: socket.socket) -> None:
    """Pass the script's signals on to this process, which ends with it."""
    while signals := script.recv(1):
        os.kill(os.getpid(), signals[0])
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    _fork_plugins(sys.argv[1])
