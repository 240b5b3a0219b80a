"""A stand-in for the plugin of pulumi-gcp: it creates nothing, and returns outputs in the form that Google uses.

The engine runs it like a real plugin. In a preview, self links are unknown, as with the real one.
"""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

PROJECT = "demo-project"
COMPUTE = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}"
COLLECTIONS = {
    "Disk": "zones/us-east1-b/disks",
    "Instance": "zones/us-east1-b/instances",
    "InstanceGroup": "zones/us-east1-b/instanceGroups",
    "Network": "global/networks",
    "RegionInstanceGroupManager": "regions/us-east1/instanceGroupManagers",
    "Subnetwork": "regions/us-east1/subnetworks",
}
"""Where the resources of each type are, for those that have a self link."""


class StandIn(provider_pb2_grpc.ResourceProviderServicer):
    """Accepts everything."""

    def Handshake(self, _: Any, __: Any) -> Any:  # noqa: N802 - as the protocol names it, here and below
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True)

    def GetPluginInfo(self, _: Any, __: Any) -> Any:  # noqa: N802
        return plugin_pb2.PluginInfo(version=sys.argv[1])

    def CheckConfig(self, request: Any, _: Any) -> Any:  # noqa: N802
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, _: Any, __: Any) -> Any:  # noqa: N802
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Diff(self, request: Any, _: Any) -> Any:  # noqa: N802
        """Say that a resource changes in place if its inputs have changed."""
        changes = provider_pb2.DiffResponse.DIFF_NONE
        if request.old_inputs != request.news:
            changes = provider_pb2.DiffResponse.DIFF_SOME
        return provider_pb2.DiffResponse(changes=changes)

    def Configure(self, _: Any, __: Any) -> Any:  # noqa: N802
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Check(self, request: Any, _: Any) -> Any:  # noqa: N802
        """Name the resource as in the program."""
        inputs = struct_pb2.Struct()
        inputs.CopyFrom(request.news)
        if "TopicIAM" not in request.urn:
            inputs.update({"name": request.urn.rpartition("::")[2]})
        return provider_pb2.CheckResponse(inputs=inputs)

    def Create(self, request: Any, _: Any) -> Any:  # noqa: N802
        """Return the inputs, with the self link if this is no preview."""
        outputs = struct_pb2.Struct()
        outputs.CopyFrom(request.properties)
        _, token, name = request.urn.rsplit("::", 2)
        kind = token.rpartition(":")[2]
        if request.preview:
            return provider_pb2.CreateResponse(properties=outputs)
        path = f"projects/{PROJECT}/topics/{name}" if kind == "Topic" else name
        if kind in COLLECTIONS:
            outputs.update({"selfLink": f"{COMPUTE}/{COLLECTIONS[kind]}/{name}"})
            path = f"projects/{PROJECT}/{COLLECTIONS[kind]}/{name}"
        return provider_pb2.CreateResponse(id=path, properties=outputs)

    def Update(self, request: Any, _: Any) -> Any:  # noqa: N802
        """Return the new inputs beside the outputs that the resource has."""
        outputs = struct_pb2.Struct()
        outputs.CopyFrom(request.olds)
        outputs.MergeFrom(request.news)
        return provider_pb2.UpdateResponse(properties=outputs)

    def Invoke(self, request: Any, _: Any) -> Any:  # noqa: N802
        """Return Cloud Storage's service account, which is the only thing that the program asks for."""
        assert request.tok == "gcp:storage/getProjectServiceAccount:getProjectServiceAccount"
        result = {
            "emailAddress": "service-1@gs-project-accounts.iam.gserviceaccount.com",
            "id": "1",
            "project": PROJECT,
        }
        return provider_pb2.InvokeResponse(**{"return": json_format.ParseDict(result, struct_pb2.Struct())})

    def Delete(self, _: Any, __: Any) -> Any:  # noqa: N802
        return empty_pb2.Empty()

    def Cancel(self, _: Any, __: Any) -> Any:  # noqa: N802
        return empty_pb2.Empty()


def main() -> None:
    """Serve until the process is killed."""
    server = grpc.server(ThreadPoolExecutor(16))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(StandIn(), server)
    sys.stdout.write(f"{server.add_insecure_port('127.0.0.1:0')}\n")
    server.start()
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main()
