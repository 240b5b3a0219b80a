"""Leads Python programs from Google's hosts to an emulator, also by clients that ignore the variables of proxies.

Python imports this file at its start, because `gcpx-emulator run` puts its folder on PYTHONPATH. httplib2, for example,
uses proxies only if another package is installed. The program may run in an environment without this package.
"""
# ruff: noqa: INP001 - a folder of PYTHONPATH

import importlib
import os
import runpy
import socket
import sys
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def _redirect(plain: str, secure: str) -> None:
    """Let Google's hosts have the addresses `plain` and `secure`, as `ADDRESS:PORT`; the latter has TLS."""
    is_of_google = runpy.run_path(str(_HERE.parent / "hosts.py"))["is_of_google"]
    look_up, connect, connect_ex = socket.getaddrinfo, socket.socket.connect, socket.socket.connect_ex

    def led(host: Any, port: Any) -> Any:
        """Return where a host's port is."""
        name = host.decode("latin-1") if isinstance(host, bytes) else host
        if not isinstance(name, str) or not is_of_google(name):
            return host, port
        address, _, number = (plain if str(port) in {"80", "http"} else secure).rpartition(":")
        return address, int(number)

    def getaddrinfo(host: Any, port: Any, family: int = 0, *args: Any, **options: Any) -> Any:
        where, service = led(host, port)
        return look_up(where, service, family if where == host else socket.AF_UNSPEC, *args, **options)

    def address(given: Any) -> Any:
        return (*led(*given[:2]), *given[2:]) if isinstance(given, tuple) and len(given) > 1 else given

    # Some clients connect to a name without a look-up of their own.
    socket.getaddrinfo = getaddrinfo
    socket.socket.connect = lambda self, given: connect(self, address(given))  # type: ignore[method-assign]
    socket.socket.connect_ex = lambda self, given: connect_ex(self, address(given))  # type: ignore[method-assign]


def _import_hidden() -> None:
    """Import the module of the same name that this one hides; systems and tools have one."""
    sys.path.remove(str(_HERE))
    own = sys.modules.pop(__name__)
    try:
        importlib.import_module(__name__)
    except ModuleNotFoundError:
        sys.modules[__name__] = own
    finally:
        sys.path.insert(0, str(_HERE))


if str(_HERE) in sys.path and "GCPX_EMULATOR_GOOGLE" in os.environ:
    _redirect(os.environ["GCPX_EMULATOR_HOST"], os.environ["GCPX_EMULATOR_GOOGLE"])
    _import_hidden()
