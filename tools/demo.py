"""The demo: two of the examples, step by step, with the real Pulumi CLI against the emulator."""

from __future__ import annotations

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
_PROGRESS: Final = re.compile(r" updating .*; batch \d+ of \d+: (\d+/\d+ instances|waiting) ")
"""Lines about the progress of an update's batches."""


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
    lines = [line for line in done.stdout.splitlines() if line.strip() and not line.strip().startswith(_NOISE)]
    lines = [line for line in lines if not _PROGRESS.search(line)]
    print("\n".join(f"     {line}" for line in lines), flush=True)


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


def create_and_preview(workspace: Workspace) -> None:
    """Show how all resources are created, and how a change is previewed."""
    step(1, "Create all six resources in one `up`, among them a fleet of 20, which takes one call")
    show(workspace, "up", flags=_QUIET)

    step(2, "Preview again: nothing differs from the program")
    show(workspace, "preview", flags=("--expect-no-changes", "--suppress-progress"))

    step(3, "Change the machine type: the preview names the path and shows a replacement")
    workspace.run("config", "set", "machineType", "e2-medium")
    show(workspace, "preview", "--diff", flags=("--suppress-progress",))
    workspace.run("config", "rm", "machineType")


def scale(workspace: Workspace) -> None:
    """Show changes in place: scale the fleet up and down, and set an expiry."""
    step(4, "Scale the fleet to 50 and set an expiry for the key: both change in place")
    workspace.run("config", "set", "workers", "50")
    workspace.run("config", "set", "keyExpiry", "1924991999000000")
    show(workspace, "up", flags=_QUIET)

    step(5, "Scale the fleet down to 10: the instances with the highest numbers are deleted")
    workspace.run("config", "set", "workers", "10")
    show(workspace, "up", flags=_QUIET)


def import_and_destroy(host: str, workspace: Workspace) -> None:
    """Show an import, and destroy everything."""
    step(6, "Import a template that was created by hand")
    imported = ("gcpx:compute:InstanceTemplate", "legacy", "made-by-hand")
    show(workspace, "import", *imported, flags=("--yes", "--skip-preview", "--generate-code=false", "--protect=false"))

    step(7, "Destroy everything")
    show(workspace, "destroy", flags=_QUIET)
    count_what_is_left(host, "global/instanceTemplates", "global/machineImages", "zones/us-east1-c/instances")


def count_what_is_left(host: str, *kinds: str) -> None:
    """Print how many resources the emulator still has at the end."""
    for kind in kinds:
        left = call(host, "GET", f"/compute/v1/projects/{PROJECT}/{kind}").get("items", [])
        ours = [item for item in left if item["name"] != _VM["name"]]
        print(f"     {kind}: {len(ours)} left")


def roll(host: str, workspace: Workspace) -> None:
    """Show how a fleet of Spot instances is created, and how a release is rolled out."""
    step(8, "Another program: a fleet of 10 Spot workers, each of which says when it is ready")
    call(host, "POST", "/_emulator/guest-attributes", {"onBoot": {"worker/state": "ready"}})
    show(workspace, "up", flags=_QUIET)

    step(9, "Roll out a release: the preview says which workers restart, and how many run at any time")
    workspace.run("config", "set", "release", "two")
    show(workspace, "preview", flags=("--suppress-progress",))
    show(workspace, "up", flags=_QUIET)


def fall_short_and_heal(host: str, workspace: Workspace) -> None:
    """Show a shortage, a preemption, and the end."""
    step(10, "Scale to 20, while zone b has room for no more, and zone c for 3: what is missing where, and why")
    call(host, "POST", "/_emulator/limits", {"zones": {"us-east1-b": 10, "us-east1-c": 3}})
    workspace.run("config", "set", "count", "20")
    show(workspace, "up", flags=_QUIET)

    step(11, "Google preempts two workers, and has room again: the next `up --refresh` heals the fleet")
    call(host, "POST", "/_emulator/limits", {})
    call(host, "POST", "/_emulator/preempt", {"names": "worker-000[23]", "project": PROJECT})
    show(workspace, "up", "--refresh", flags=("--yes", "--suppress-progress"))

    step(12, "Destroy the fleet")
    show(workspace, "destroy", flags=_QUIET)
    count_what_is_left(host, "zones/us-east1-b/instances", "zones/us-east1-c/instances")


def main() -> None:
    """Run the demo."""
    begun = time.monotonic()
    print(styled("gcpx, on an emulator of Google Cloud: no account, no credentials, no network", "1"))
    with tempfile.TemporaryDirectory(prefix="gcpx-demo-") as folder, emulator("--latency", "0.2") as host:
        prepare(host)
        workspace = Workspace.make(ROOT / "examples" / "quickstart", Path(folder), host)
        create_and_preview(workspace)
        scale(workspace)
        import_and_destroy(host, workspace)
        home = Path(workspace.variables["PULUMI_HOME"])
        workers = Workspace.make(ROOT / "examples" / "fleet", Path(folder) / "workers", host, home)
        roll(host, workers)
        fall_short_and_heal(host, workers)
    print(f"\n{styled('Done', '1;32')} in {time.monotonic() - begun:.0f} s.")
    print(
        "The programs are in examples/quickstart and examples/fleet. The first one needs a bucket, a topic, an instance"
    )
    print("and a disk, which the demo has created with the emulator's APIs.")
    print('For programs of your own: make emulator, then in another shell: eval "$(make -s env)"')


if __name__ == "__main__":
    main()
