"""The quickstart, told step by step: a real `pulumi up` against the emulator, from nothing to nothing."""

from __future__ import annotations

import os
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


def styled(text: str, code: str) -> str:
    """Style text for a terminal."""
    return f"\033[{code}m{text}\033[0m" if _TERMINAL else text


def step(number: int, title: str) -> None:
    """Begin a step."""
    print(f"\n{styled(f'{number}. {title}', '1')}", flush=True)


def show(workspace: Workspace, *arguments: str, flags: Iterable[str] = ()) -> None:
    """Run a command and print what it says, without the lines that only fill a log."""
    print(styled(f"   $ pulumi {' '.join(arguments)}", "36"), flush=True)
    done = workspace.run(*arguments, *flags)
    lines = [line for line in done.stdout.splitlines() if line.strip() and not line.strip().startswith(_NOISE)]
    print("\n".join(f"     {line}" for line in lines), flush=True)


def call(host: str, method: str, path: str, body: Any = None) -> dict[str, Any]:
    """Call the emulator as Google would be called."""
    response = httpx.request(method, f"http://{host}{path}", json=body, trust_env=False)
    response.raise_for_status()
    return dict(response.json()) if response.content else {}


def prepare(host: str) -> None:
    """Make what was there before: a bucket, a topic for its events, an instance, and a disk."""
    zone = f"/compute/v1/projects/{PROJECT}/zones/us-east1-b"
    call(host, "POST", f"/storage/v1/b?project={PROJECT}", {"name": "demo-uploads"})
    call(host, "PUT", f"/v1/projects/{PROJECT}/topics/uploads", {})
    call(host, "POST", f"{zone}/disks", {"name": "example-data", "sizeGb": "50"})
    call(host, "POST", f"{zone}/instances", _VM)
    call(host, "POST", f"/compute/v1/projects/{PROJECT}/global/instanceTemplates", _BY_HAND)


def tell(host: str, workspace: Workspace) -> None:
    """Go through the steps."""
    quiet = ("--yes", "--skip-preview", "--suppress-progress")
    step(1, "Create all six resources in one `up`: a fleet of 20 among them, made in one call")
    show(workspace, "up", flags=quiet)

    step(2, "Preview again: what is there is what the program says")
    show(workspace, "preview", flags=("--expect-no-changes", "--suppress-progress"))

    step(3, "Change the machine type: the preview names the path and announces a replacement")
    workspace.run("config", "set", "machineType", "e2-medium")
    show(workspace, "preview", "--diff", flags=("--suppress-progress",))
    workspace.run("config", "rm", "machineType")

    step(4, "Scale the fleet to 50 and give the key an end: both change in place")
    workspace.run("config", "set", "workers", "50")
    workspace.run("config", "set", "keyExpiry", "1924991999000000")
    show(workspace, "up", flags=quiet)

    step(5, "Scale it down to 10: the highest numbers go")
    workspace.run("config", "set", "workers", "10")
    show(workspace, "up", flags=quiet)

    step(6, "Import a template that somebody made by hand")
    imported = ("gcpx:compute:InstanceTemplate", "legacy", "made-by-hand")
    show(workspace, "import", *imported, flags=("--yes", "--skip-preview", "--generate-code=false", "--protect=false"))

    step(7, "Destroy everything")
    show(workspace, "destroy", flags=quiet)
    for kind in ("global/instanceTemplates", "global/machineImages", "zones/us-east1-c/instances"):
        left = call(host, "GET", f"/compute/v1/projects/{PROJECT}/{kind}").get("items", [])
        print(f"     {kind}: {len(left)} left")


def main() -> None:
    """Run the demo."""
    begun = time.monotonic()
    print(styled("gcpx quickstart, on an emulator of Google Cloud: no account, no credentials, no network", "1"))
    with tempfile.TemporaryDirectory(prefix="gcpx-demo-") as folder, emulator("--latency", "0.5") as host:
        prepare(host)
        tell(host, Workspace.make(ROOT / "examples" / "quickstart", Path(folder), host))
    print(f"\n{styled('Done', '1;32')} in {time.monotonic() - begun:.0f} s. The program is in examples/quickstart;")
    print('to go on by hand: make emulator, then in another shell: eval "$(make -s env)"')


if __name__ == "__main__":
    main()
