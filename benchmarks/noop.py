"""The baseline: a provider that does nothing, and loads the SDK's messages in the usual way.

It has the name and schema of gcpx, so that the same programs run on it. Check, Create and Read return what they get.
"""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from gcpx import __version__

SCHEMA = Path(__file__).parents[1] / "schema.json"


class Nothing(provider_pb2_grpc.ResourceProviderServicer):
    """Responds to every call at once."""

    def Handshake(self, _: Any, __: Any) -> Any:
        """Accept secrets and the autonaming configuration."""
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, supports_autonaming_configuration=True)

    def GetPluginInfo(self, _: Any, __: Any) -> Any:
        """Return the version of gcpx."""
        return plugin_pb2.PluginInfo(version=__version__)

    def GetSchema(self, _: Any, __: Any) -> Any:
        """Return the schema of gcpx."""
        return provider_pb2.GetSchemaResponse(schema=SCHEMA.read_text())

    def CheckConfig(self, request: Any, _: Any) -> Any:
        """Return the inputs."""
        return provider_pb2.CheckResponse(inputs=request.news)

    Check = CheckConfig

    def DiffConfig(self, _: Any, __: Any) -> Any:
        """Report no change."""
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    Diff = DiffConfig

    def Configure(self, _: Any, __: Any) -> Any:
        """Accept secrets and previews."""
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Create(self, request: Any, _: Any) -> Any:
        """Return the inputs as outputs."""
        return provider_pb2.CreateResponse(id="nothing", properties=request.properties)

    def Read(self, request: Any, _: Any) -> Any:
        """Return the state."""
        return provider_pb2.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)

    def Delete(self, _: Any, __: Any) -> Any:
        """Do nothing."""
        return empty_pb2.Empty()

    def Cancel(self, _: Any, __: Any) -> Any:
        """Do nothing."""
        return empty_pb2.Empty()


def main() -> None:
    """Serve until the process is killed."""
    limit = [("grpc.max_receive_message_length", 400 << 20)]
    server = grpc.server(ThreadPoolExecutor(256), options=limit)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Nothing(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main()
