"""Pub/Sub: where its API is served, and the modules with its methods, registered by importing them."""
# ruff: noqa: F401 - see above

from gcpx_emulator.core.discovery import Api, serve
from gcpx_emulator.core.errors import ErrorForm
from gcpx_emulator.pubsub import messages, permissions, topics_and_subscriptions

serve(Api("pubsub.v1", prefixes=("v1",), errors=ErrorForm.STATUS))
