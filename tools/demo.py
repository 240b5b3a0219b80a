"""The demo: two of the examples, step by step, with the real Pulumi CLI against the emulator."""

from __future__ import annotations

import collections
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import httpx
from workspace import PROJECT, ROOT, Workspace, emulator

_TERMINAL: Final = sys.stdout.isatty() and "NO_COLOR" not in os.environ
_DISK: Final = {
    "boot": True,
    "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"},
}
_BY_HAND: Final = {
    "name": "made-by-hand",
    "properties": {
        "machineType": "e2-micro",
        "disks": [_DISK],
        "networkInterfaces": [{"network": "global/networks/default"}],
    },
}
_VM: Final = {"name": "example-vm", "machineType": "zones/us-east1-b/machineTypes/e2-medium", "disks": [_DISK]}
_NOISE: Final = (
    "@ ",
    "Updating (",
    "Previewing ",
    "Destroying (",
    "Importing (",
    "The resources in the stack",
    "If you want to",
)


_QUIET: Final = ("--yes", "--skip-preview", "--suppress-progress")
_PROGRESS: Final = re.compile(r"\S+ +(gcpx|pulumi):\S+ \S+ (\w+ing|refresh|update)\b(?!.*: replacing |.*; trying )")
"""Lines that say what another line says, too, such as that something has started."""


def styled(text: str, code: str) -> str:
    """Style text, if the output is a terminal."""
    return f"\033[{code}m{text}\033[0m" if _TERMINAL else text


def step(number: int, title: str) -> None:
    """Print the heading of a step."""
    print(f"\n{styled(f'{number}. {title}', '1')}", flush=True)


def show(workspace: Workspace, *arguments: str, flags: Iterable[str] = ()) -> None:
    """Run a command of the CLI, and print its output without irrelevant lines."""
    print(styled(f"   $ pulumi {' '.join(arguments)}", "36"), flush=True)
    done = workspace.run(*arguments, *flags)
    lines = [line.rstrip() for line in done.stdout.splitlines() if line.strip()]
    shown = [line for line in lines if not line.strip().startswith(_NOISE) and not _PROGRESS.search(line)]
    print("".join(f"     {line}\n" for line in shown), end="", flush=True)


def call(host: str, method: str, path: str, body: Any = None) -> dict[str, Any]:
    """Call the emulator; return the JSON object of the response. Raises httpx.HTTPStatusError for an error."""
    response = httpx.request(method, f"http://{host}{path}", json=body, trust_env=False)
    response.raise_for_status()
    return dict(response.json()) if response.content else {}


def prepare(host: str) -> None:
    """Create the prerequisites: a bucket, a topic for its events, a disk, an instance, and a template."""
    zone = f"/compute/v1/projects/{PROJECT}/zones/us-east1-b"
    call(host, "POST", f"/storage/v1/b?project={PROJECT}", {"name": "demo-uploads"})
    call(host, "PUT", f"/v1/projects/{PROJECT}/topics/uploads", {})
    call(host, "POST", f"{zone}/disks", {"name": "example-data", "sizeGb": "50"})
    call(host, "POST", f"{zone}/instances", _VM)
    call(host, "POST", f"/compute/v1/projects/{PROJECT}/global/instanceTemplates", _BY_HAND)


def create(workspace: Workspace) -> None:
    """Show how all resources are created."""
    step(1, "Create all six resources in one `up`, among them a fleet of 20 instances, which takes one call")
    show(workspace, "up", flags=_QUIET)


def import_and_destroy(host: str, workspace: Workspace) -> None:
    """Show an import, and destroy everything."""
    step(2, "Import a template that was created by hand")
    imported = ("gcpx:compute:InstanceTemplate", "legacy", "made-by-hand")
    show(workspace, "import", *imported, flags=("--yes", "--skip-preview", "--generate-code=false", "--protect=false"))

    step(3, "Destroy everything")
    show(workspace, "destroy", flags=_QUIET)
    show_rest(host, "global/instanceTemplates", "global/machineImages", "aggregated/instances")


def roll(host: str, workspace: Workspace) -> None:
    """Show how a fleet of Spot instances is created, and how another image is rolled out."""
    step(4, "Another program: a fleet of 10 Spot workers, each of which says when it is ready")
    call(host, "POST", "/_emulator/guest-attributes", {"onBoot": {"worker/state": "ready"}})
    show(workspace, "up", flags=_QUIET)

    step(5, "Preview another image: it names the workers that are replaced, and how many run at any time")
    show(workspace, "config", "set", "image", "debian-13")
    show(workspace, "preview", flags=("--suppress-progress",))

    step(6, "Roll it out: in batches, and the next batch begins when the workers of the last one are ready")
    show(workspace, "up", flags=_QUIET)
    disks = [disk for disk in found(host, "aggregated/disks") if disk["name"].startswith("worker-")]
    images = collections.Counter(disk["sourceImage"].rpartition("/")[2] for disk in disks)
    print("".join(f"     {number} workers have the image {image}\n" for image, number in images.items()), end="")


def fall_short_and_heal(host: str, workspace: Workspace) -> None:
    """Show a shortage, a preemption, and the end."""
    step(7, "Scale to 20, while Google has room for only 3 more: what is missing where, why, and what to do")
    call(host, "POST", "/_emulator/limits", {"zones": {"us-east1-b": 10, "us-east1-c": 3}})
    show(workspace, "config", "set", "count", "20")
    show(workspace, "up", flags=_QUIET)

    step(8, "Google preempts two workers, and has room again: the next `up --refresh` heals the fleet")
    call(host, "POST", "/_emulator/limits", {})
    call(host, "POST", "/_emulator/preempt", {"names": "worker-000[23]", "project": PROJECT})
    show(workspace, "up", "--refresh", flags=("--yes", "--suppress-progress"))

    step(9, "Destroy the fleet")
    show(workspace, "destroy", flags=_QUIET)
    show_rest(host, "aggregated/instances")


def show_rest(host: str, *kinds: str) -> None:
    """Print how many resources of each kind the programs have left in the emulator."""
    for kind in kinds:
        ours = [resource for resource in found(host, kind) if resource["name"] != _VM["name"]]
        print(f"     {kind.rpartition('/')[2]}: {len(ours)} left")


def found(host: str, kind: str) -> list[dict[str, Any]]:
    """List the resources in a collection of the project, such as `global/machineImages` or `aggregated/disks`."""
    items = call(host, "GET", f"/compute/v1/projects/{PROJECT}/{kind}").get("items", [])
    if isinstance(items, list):
        return items
    return [resource for scope in items.values() for resource in scope.get(kind.rpartition("/")[2], [])]


def main() -> None:
    """Run the demo."""
    started = time.monotonic()
    print(styled("gcpx, on an emulator of Google Cloud: no account, no credentials, no network", "1"))
    with tempfile.TemporaryDirectory(prefix="gcpx-demo-") as folder, emulator("--latency", "0.05") as host:
        prepare(host)
        workspace = Workspace.make(ROOT / "examples" / "quickstart", Path(folder), host)
        create(workspace)
        import_and_destroy(host, workspace)
        home = Path(workspace.variables["PULUMI_HOME"])
        workers = Workspace.make(ROOT / "examples" / "fleet", Path(folder) / "workers", host, home)
        roll(host, workers)
        fall_short_and_heal(host, workers)
    print(f"\n{styled('Done', '1;32')} in {time.monotonic() - started:.0f} s.")
    print(
        "The programs are in examples/quickstart and examples/fleet. The first one needs a bucket, a topic, an instance"
    )
    print("and a disk, which the demo has created with the emulator's APIs.")
    print('For programs of your own: make emulator, then in another shell: eval "$(make -s env)"')


if __name__ == "__main__":
    main()
