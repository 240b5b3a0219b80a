"""Pub/Sub: where its API is served, and the modules with its methods, registered by importing them."""
# ruff: noqa: F401 - see above

from gcpx_emulator.core.discovery import Api, methods_of, serve
from gcpx_emulator.core.errors import ErrorForm
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.pubsub import messages, permissions, policies, schemas, snapshots, topics_and_subscriptions


def _amend(content: Json) -> None:
    """Allow the update mask in the query, where Google's Config Connector sent it when it was recorded in 2025."""
    for method in methods_of(content):
        if method["httpMethod"] == "PATCH":
            method["parameters"]["updateMask"] = {"location": "query", "type": "string"}


serve(Api("pubsub.v1", prefixes=("v1",), amend=_amend, errors=ErrorForm.STATUS))
