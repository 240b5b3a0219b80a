"""Run a program with mocks in place of all plugins: `python mocked_program.py PROGRAM`.

It prints the resources that the program declares, as JSON: type, name, and the inputs as a plugin would receive them.
"""

from __future__ import annotations

import json
import runpy
import sys
from typing import Any

import pulumi

PROJECT = "demo-project"
COMPUTE = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}"
LINKS = {
    "gcp:compute/disk:Disk": f"{COMPUTE}/zones/us-east1-b/disks",
    "gcp:compute/instance:Instance": f"{COMPUTE}/zones/us-east1-b/instances",
    "gcp:compute/instanceGroup:InstanceGroup": f"{COMPUTE}/zones/us-east1-b/instanceGroups",
    "gcp:compute/network:Network": f"{COMPUTE}/global/networks",
    "gcp:compute/subnetwork:Subnetwork": f"{COMPUTE}/regions/us-east1/subnetworks",
    "gcpx:compute:BulkInstances": f"{COMPUTE}/zones/us-east1-b/instances",
}
"""What the self links of each type begin with."""


class Plugins(pulumi.runtime.Mocks):
    """Both plugins: they create nothing, and return outputs in the form that Google uses."""

    def __init__(self) -> None:
        self.resources: list[dict[str, Any]] = []

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        """Record a resource; return its ID and its outputs."""
        self.resources.append({"type": args.typ, "name": args.name, "inputs": args.inputs})
        link = f"{LINKS.get(args.typ, '')}/{args.name}"
        if args.typ == "gcpx:compute:BulkInstances":
            return link, {**args.inputs, "members": [{"name": f"{args.name}-1", "selfLink": f"{link}-1"}]}
        if args.typ == "gcp:pubsub/topic:Topic":
            return f"projects/{PROJECT}/topics/{args.name}", {**args.inputs, "name": args.name}
        return link.removeprefix(f"{COMPUTE}/"), {**args.inputs, "name": args.name, "selfLink": link}

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        """Return Cloud Storage's service account, which is the only thing that the program asks for."""
        assert args.token == "gcp:storage/getProjectServiceAccount:getProjectServiceAccount"
        return {"emailAddress": f"service-1@gs-project-accounts.{PROJECT}.example.com"}


def main(program: str) -> None:
    """Run the program, and print its resources."""
    plugins = Plugins()
    pulumi.runtime.set_mocks(plugins)
    pulumi.runtime.test(lambda: runpy.run_path(program))()
    json.dump(plugins.resources, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
