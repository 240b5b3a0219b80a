"""Take over what a project already has: list it, import it in one go, and see that the preview is clean.

Run it in the folder of a stack, where `pulumi` is set up: `python adopt.py operator@example.com ...`, with the users
whose login keys are to be taken over. It writes `adopt.json`, what was found, and `Main.yaml`, the program.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

COMPUTE = ("InstanceTemplate", "MachineImage", "DiskAttachment", "BulkInstances")


def pulumi(*arguments: str) -> str:
    """Run the CLI; whatever it complains about is seen at once."""
    return subprocess.run(["pulumi", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def listed(token: str, *query: str) -> list[dict[str, str]]:
    """List one kind of resource."""
    found = json.loads(pulumi("do", token, "list", "--all", *query) or "[]")
    print(f"{len(found):>6,}  {token}")
    return [{"type": token, "name": item["name"], "id": item["id"]} for item in found or ()]


def named(resources: list[dict[str, str]]) -> list[dict[str, str]]:
    """Give each a name of its own that any language takes for a variable."""
    taken: dict[str, int] = {}
    for resource in resources:
        kind = resource["type"].rpartition(":")[2]
        name = re.sub(r"\W+", "-", f"{kind[0].lower()}{kind[1:]}-{resource['name']}").strip("-")
        taken[name] = taken.get(name, 0) + 1
        resource["name"] = name if taken[name] == 1 else f"{name}-{taken[name]}"
    return resources


def main(users: list[str]) -> None:
    """List, import, preview."""
    found = [resource for kind in COMPUTE for resource in listed(f"gcpx:compute:{kind}")]
    found += listed("gcpx:storage:NotificationConfig")
    for user in users:
        found += listed("gcpx:oslogin:SshKey", "--user", user)
    if not found:
        sys.exit("There is nothing to take over.")
    Path("adopt.json").write_text(json.dumps({"resources": named(found)}, indent=2))
    pulumi("import", "--file", "adopt.json", "--out", "adopted.yaml", "--yes", "--skip-preview", "--suppress-progress")
    Path("adopted.yaml").replace("Main.yaml")
    pulumi("preview", "--expect-no-changes", "--suppress-progress")
    print(f"{len(found):,} resources are in the stack, Main.yaml describes them, and a preview shows no change.")


if __name__ == "__main__":
    main(sys.argv[1:])
