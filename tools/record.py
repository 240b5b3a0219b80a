"""Record what this version does, so that later versions can be compared with it.

`python tools/record.py` writes into `tests/recorded/VERSION`:

- `session.jsonl`: every call of an engine in the life of the quickstart example, with the plugin's response
- `program.json` and `state.json`: all programs of `tests/corpus` in one stack, and its state after `pulumi up`

Run it once for each version, when it is released. It does not overwrite a recording.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import httpx
import yaml
from demo import call, prepare
from workspace import PROJECT, ROOT, Workspace, emulator

from gcpx import __version__

_PREFIX: Final = "/pulumirpc.ResourceProvider/"
_PLAIN: Final = ("--generate-code=false", "--protect=false")
_OF_THE_MACHINE: Final = ("engineAddress", "rootDirectory", "programDirectory", "mapperTarget", "loaderTarget",
                          "resolverTarget", "resourceStatusAddress", "resourceStatusToken")  # fmt: skip


def session(root: Path) -> str:
    """Run the life of the quickstart example; returns its calls, one a line."""
    log = root / "calls.json"
    with emulator() as host:
        prepare(host)
        workspace = Workspace.make(ROOT / "examples" / "quickstart", root, host)
        variables = {"PULUMI_DEBUG_GRPC": str(log)}
        for arguments in (
            ("up", "--yes"),
            ("preview", "--expect-no-changes"),
            ("refresh", "--yes"),
            ("config", "set", "workers", "25"),
            ("config", "set", "machineType", "e2-medium"),
            ("config", "set", "keyExpiry", "1924991999000000"),
            ("up", "--yes", "--parallel", "1"),
            ("import", "gcpx:compute:InstanceTemplate", "legacy", "made-by-hand", "--yes", *_PLAIN),
            ("destroy", "--yes"),
        ):  # fmt: skip
            workspace.run(*arguments, variables=variables if arguments[0] != "config" else None)
    return "".join(f"{json.dumps(entry, sort_keys=True)}\n" for entry in calls(log))


def calls(log: Path) -> list[dict[str, Any]]:
    """Read the calls of our plugin with their responses, without what depends on this machine."""
    found = []
    for line in log.read_text().splitlines():
        entry = json.loads(line)
        ours = entry["method"].startswith(_PREFIX) and entry.get("metadata", {}).get("name") == "gcpx"
        if ours and entry.get("progress") != "request_started":
            request = {key: value for key, value in entry["request"].items() if key not in _OF_THE_MACHINE}
            found.append(
                {"method": entry["method"].removeprefix(_PREFIX), "request": request, "response": entry.get("response")}
            )
    return found


def corpus() -> dict[str, Any]:
    """Merge all programs of the corpus into one."""
    resources: dict[str, Any] = {}
    for path in sorted((ROOT / "tests" / "corpus").glob("*.yaml")):
        resources |= yaml.safe_load(path.read_text())["resources"]
    return {"name": "test", "runtime": "yaml", "resources": resources}


def state(root: Path, program: dict[str, Any]) -> dict[str, Any]:
    """Deploy the merged program; returns the state."""
    source = root / "source"
    source.mkdir(parents=True)
    (source / "Pulumi.yaml").write_text(json.dumps(program))
    with emulator() as host:
        prepare(host)
        zones = [f"projects/{PROJECT}/zones/us-east1-{letter}" for letter in "bc"]
        disk = {"name": "shared", "sizeGb": "50", "replicaZones": zones}
        call(host, "POST", f"/compute/v1/projects/{PROJECT}/regions/us-east1/disks", disk)
        boot = f"/_emulator/resources/projects/{PROJECT}/zones/us-east1-b/instances/example-vm"
        disks = httpx.get(f"http://{host}{boot}", trust_env=False).json()["disks"]
        call(host, "PATCH", boot, {"disks": [disks[0] | {"deviceName": "boot"}]})
        workspace = Workspace.make(source, root, host)
        workspace.run("up", "--yes", "--skip-preview")
        return workspace.state()


def main() -> None:
    """Record this version; exits with an error if it has been recorded before."""
    folder = ROOT / "tests" / "recorded" / __version__
    if folder.exists():
        sys.exit(f"{folder.relative_to(ROOT)} exists; remove it to record this version again")
    program = corpus()
    with tempfile.TemporaryDirectory() as scratch:
        recorded = session(Path(scratch) / "session"), state(Path(scratch) / "state", program)
    folder.mkdir(parents=True)
    (folder / "session.jsonl").write_text(recorded[0])
    (folder / "program.json").write_text(json.dumps(program, indent=1, ensure_ascii=False) + "\n")
    (folder / "state.json").write_text(json.dumps(recorded[1], indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
