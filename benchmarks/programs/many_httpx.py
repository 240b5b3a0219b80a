"""Many templates with httpx, with requests of its own for each of them: `many_httpx.py HOST COUNT PARALLEL`.

Reads verbs from its input, and prints the seconds of each call as JSON after each of them.
"""

import json
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

host, count, parallel = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
of_thread = threading.local()
IMAGE = "projects/debian-cloud/global/images/family/debian-12"


def client() -> httpx.Client:
    """Return the client of this thread; one that hundreds of threads share fails once in a while."""
    if not hasattr(of_thread, "client"):
        base = f"http://{host}/compute/v1/projects/p/global"
        of_thread.client = httpx.Client(base_url=base, timeout=200, trust_env=False, verify=False)
    found: httpx.Client = of_thread.client
    return found


def body(number: int) -> dict[str, Any]:
    """Describe a template."""
    return {
        "name": f"template-{number}",
        "properties": {
            "machineType": "e2-small",
            "disks": [{"boot": True, "initializeParams": {"sourceImage": IMAGE}}],
            "networkInterfaces": [{"network": "global/networks/default"}],
            "labels": {"number": str(number)},
        },
    }


def create(number: int) -> None:
    """Insert a template, wait for its operation, and read it."""
    finish(client().post("/instanceTemplates", json=body(number)))
    read(number)


def read(number: int) -> None:
    """Read a template."""
    client().get(f"/instanceTemplates/template-{number}").raise_for_status().json()


def delete(number: int) -> None:
    """Delete a template, and wait for the operation."""
    finish(client().delete(f"/instanceTemplates/template-{number}"))


def finish(response: httpx.Response) -> None:
    """Wait for an operation by long polls."""
    operation = response.raise_for_status().json()
    while operation["status"] != "DONE":
        operation = client().post(f"/operations/{operation['name']}/wait").raise_for_status().json()
    if "error" in operation:
        raise RuntimeError(operation["error"])


VERBS: dict[str, Callable[[int], None]] = {"create": create, "refresh": read, "delete": delete}


def timed(verb: str, number: int) -> float:
    """Return the seconds of a call."""
    began = time.perf_counter()
    VERBS[verb](number)
    return time.perf_counter() - began


with ThreadPoolExecutor(parallel) as pool:
    print("ready", flush=True)
    for line in sys.stdin:
        verb = line.strip()
        print(json.dumps(list(pool.map(timed, [verb] * count, range(count)))), flush=True)
