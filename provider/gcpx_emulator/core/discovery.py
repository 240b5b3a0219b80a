"""Google's published API descriptions: which methods there are, and what their requests may hold.

The documents come with the package google-api-python-client; one is read when its API is first called.
"""

from __future__ import annotations

import functools
import json
import re
from importlib import resources
from typing import Any, Final
from urllib.parse import unquote

import attrs

from gcpx_emulator.core.errors import ApiError

Json = dict[str, Any]
_PREFIXES: Final = {
    "compute/v1": ("compute.v1",),
    "compute/beta": ("compute.beta",),
    "storage/v1": ("storage.v1",),
    "upload/storage/v1": ("storage.v1",),
    "resumable/upload/storage/v1": ("storage.v1",),
    "download/storage/v1": ("storage.v1",),
    "v1": ("oslogin.v1", "pubsub.v1", "iamcredentials.v1"),
    "v1beta": ("oslogin.v1beta",),
    "v1alpha": ("oslogin.v1alpha",),
}
_DOCUMENTED: Final = {
    "tokeninfo": ("oauth2.tokeninfo", {"id_token": {"location": "query", "type": "string"}}),
    "oauth2/v1/certs": ("oauth2.certs", {}),
    "oauth2/v3/certs": ("oauth2.keys", {}),
    "iap/verify/public_key": ("iap.publicKeys", {}),
}
"""Pages that the documentation has and no published description; each is only read."""
_DIALECT: Final = frozenset({"$alt", "$fields", "$prettyPrint", "upload_id"})
"""Parameters that Google's clients send and no description has."""
_BETA_EXTRAS: Final[Json] = {"AttachedDisk": {"userLicenses": {"type": "array", "items": {"type": "string"}}}}
"""Fields that the API documentation has and the published description of today does not."""
_LIST_EXTRAS: Final[Json] = {"returnPartialSuccess": {"location": "query", "type": "boolean"}}
"""Parameters that the documentation gives every list method, and the description of v1 leaves out."""
_ENUM_EXTRAS: Final = {("GuestOsFeature", "type"): ["SUSPEND_RESUME_COMPATIBLE"]}


@attrs.frozen
class Method:
    """One method of an API.

    Attributes:
        id: such as `compute.instanceTemplates.insert`.
        version: such as `beta`.
        parameters: by name, with location and type.
        request: the name of the request body's schema, if it has a body.
    """

    id: str
    version: str
    http_method: str
    parameters: Json
    request: str | None
    document: Document


@attrs.define
class _Node:
    literals: dict[str, _Node] = attrs.Factory(dict)
    patterns: list[tuple[re.Pattern[str], _Node]] = attrs.Factory(list)
    methods: dict[str, Method] = attrs.Factory(dict)


@attrs.define(eq=False)
class Document:
    """One API version: its schemas, and its methods as a tree of path segments."""

    name: str
    schemas: Json
    standard: frozenset[str]
    root: _Node = attrs.Factory(_Node)

    def add(self, spec: Json) -> None:
        """Take a method into the tree."""
        node = self.root
        for segment in (spec.get("flatPath") or spec["path"]).split("/"):
            node = _child(node, segment)
        request = spec.get("request", {}).get("$ref")
        extras = _LIST_EXTRAS if "pageToken" in spec.get("parameters", {}) and self.name.startswith("compute") else {}
        version = self.name.rpartition(".")[2]
        node.methods[spec["httpMethod"]] = Method(
            spec["id"], version, spec["httpMethod"], extras | spec.get("parameters", {}), request, self
        )


def _child(node: _Node, segment: str) -> _Node:
    if "{" not in segment:
        return node.literals.setdefault(segment, _Node())
    text = re.sub(r"\{\+?(\w+)\}", r"(?P<\1>[^/:]+)" if ":" in segment else r"(?P<\1>[^/]+)", segment)
    pattern = re.compile(text)
    for known, child in node.patterns:
        if known.pattern == pattern.pattern:
            return child
    child = _Node()
    node.patterns.append((pattern, child))
    node.patterns.sort(key=lambda item: -len(item[0].pattern))
    return child


@functools.cache
def document(name: str) -> Document:
    """Read a document such as `compute.v1`."""
    folder = resources.files("googleapiclient") / "discovery_cache" / "documents"
    spec = json.loads((folder / f"{name}.json").read_text())
    schemas = spec["schemas"]
    if name == "compute.beta":
        for schema, extras in _BETA_EXTRAS.items():
            schemas[schema]["properties"].update(extras)
    for (schema, field), values in _ENUM_EXTRAS.items():
        if schema in schemas:
            schemas[schema]["properties"][field]["enum"].extend(values)
    found = Document(name, schemas, frozenset(spec["parameters"]) | _DIALECT)
    _collect(found, spec)
    return found


def _collect(found: Document, resource: Json) -> None:
    versioned = not found.name.startswith(("compute", "storage"))
    for method in resource.get("methods", {}).values():
        path = method.get("flatPath") or method["path"]
        # Some documents' paths begin with the version; for the others the prefix has been cut off.
        found.add({**method, "flatPath": path.partition("/")[2] if versioned else path})
    for child in resource.get("resources", {}).values():
        _collect(found, child)


def route(http_method: str, path: str) -> tuple[Method, dict[str, str]]:
    """Find the method a request is for, and the path's parameters; the path is as it came, with its escapes."""
    clean = path.strip("/")
    methods, parameters = _documented(clean) or _published(clean)
    if not methods:
        raise ApiError(404, f"{path} is not a path of any API that is emulated")
    if http_method not in methods:
        raise ApiError(405, f"{http_method} is not allowed on {path}; {', '.join(methods)} is")
    return methods[http_method], {name: unquote(value) for name, value in parameters.items()}


def _documented(path: str) -> tuple[dict[str, Method], dict[str, str]] | None:
    if path not in _DOCUMENTED:
        return None
    method_id, parameters = _DOCUMENTED[path]
    return {"GET": Method(method_id, "", "GET", parameters, None, Document("documented", {}, _DIALECT))}, {}


def _published(path: str) -> tuple[dict[str, Method], dict[str, str]]:
    for prefix, names in _PREFIXES.items():
        for name in names if path.startswith(f"{prefix}/") else ():
            node, parameters = _find(document(name).root, path.removeprefix(f"{prefix}/").split("/"), {})
            if node is not None and node.methods:
                return _in_session(prefix, node.methods), parameters
    return {}, {}


def _in_session(prefix: str, methods: dict[str, Method]) -> dict[str, Method]:
    """Let an upload go on by PUT, as sessions do."""
    return methods | {"PUT": methods["POST"]} if "upload" in prefix and "POST" in methods else methods


def _find(node: _Node, segments: list[str], found: dict[str, str]) -> tuple[_Node | None, dict[str, str]]:
    if not segments:
        return (node if node.methods else None), found
    head, *rest = segments
    if head in node.literals:
        literal, parameters = _find(node.literals[head], rest, found)
        if literal is not None:
            return literal, parameters
    for pattern, child in node.patterns:
        match = pattern.fullmatch(head)
        if match:
            result, parameters = _find(child, rest, found | match.groupdict())
            if result is not None:
                return result, parameters
    return None, found
