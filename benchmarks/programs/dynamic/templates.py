"""A dynamic provider of templates, as users write one around the REST API."""

import os
import time
from typing import Any

import httpx
import pulumi
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, Resource, ResourceProvider

PROJECT = f"http://{os.environ['GCPX_EMULATOR_HOST']}/compute/v1/projects/{os.environ['GOOGLE_PROJECT']}"


class Templates(ResourceProvider):
    """Creates, reads and deletes templates."""

    def create(self, props: dict[str, Any]) -> CreateResult:
        """Create a template, and read it."""
        self._finish(httpx.post(f"{PROJECT}/global/instanceTemplates", json=props["body"]))
        name = props["body"]["name"]
        return CreateResult(name, {**props, "live": self._get(name)})

    def read(self, id_: str, props: dict[str, Any]) -> ReadResult:
        """Read a template."""
        return ReadResult(id_, {**props, "live": self._get(id_)})

    def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
        """Replace a template whose body has changed."""
        changed = olds["body"] != news["body"]
        return DiffResult(changes=changed, replaces=["body"] if changed else [])

    def delete(self, id_: str, _props: dict[str, Any]) -> None:
        """Delete a template."""
        self._finish(httpx.delete(f"{PROJECT}/global/instanceTemplates/{id_}"))

    def _get(self, name: str) -> Any:
        return httpx.get(f"{PROJECT}/global/instanceTemplates/{name}").raise_for_status().json()

    def _finish(self, response: httpx.Response) -> None:
        operation = response.raise_for_status().json()
        while operation["status"] != "DONE":
            time.sleep(0.2)
            operation = httpx.get(f"{PROJECT}/global/operations/{operation['name']}").raise_for_status().json()
        if "error" in operation:
            raise RuntimeError(operation["error"])


class Template(Resource):
    """A template."""

    live: pulumi.Output[Any]

    def __init__(self, name: str, body: dict[str, Any]) -> None:
        super().__init__(Templates(), name, {"body": body, "live": None})
