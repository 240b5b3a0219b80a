"""Google's published API descriptions (discovery documents), and the routing of requests to their methods."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Collection, Iterator
from importlib import resources
from typing import Final
from urllib.parse import unquote

import attrs

from gcpx_emulator.core.errors import ApiError, ErrorForm
from gcpx_emulator.core.json_data import Json

MERGE_PATCH: Final = "mergePatch"
"""Marks a property or a method's request that is a JSON Merge Patch, in which null removes a field."""
SKIPS_NULLS: Final = "skipsNulls"
"""Marks a list whose nulls are left out; in any other list, a null is refused."""
_CLIENT_PARAMETERS: Final = {"$alt": "alt", "$fields": "fields", "$prettyPrint": "prettyPrint"}
"""Undocumented query parameters that Google's clients send, with the documented parameter of the same meaning."""
_UPLOAD_ID: Final[Json] = {"upload_id": {"location": "query", "type": "string"}}


@attrs.frozen
class Api:
    """One version of an emulated API.

    Attributes:
        document: the name of its document, such as `compute.v1`.
        prefixes: the beginnings of its paths, such as `compute/v1`.
        amend: adds what the document lacks, before its first use.
        errors: the form of its errors.
        ignores_unknown: whether it ignores names in bodies that it does not know, and bodies where it expects none.
    """

    document: str
    prefixes: tuple[str, ...]
    amend: Callable[[Json], None] = lambda _document: None
    errors: ErrorForm = ErrorForm.BOTH
    ignores_unknown: bool = False


APIS: Final[dict[str, Api]] = {}
"""Every API that is emulated, by the name of its document."""


def serve(*apis: Api) -> None:
    """Register the APIs of a service."""
    APIS.update((api.document, api) for api in apis)


def error_form(api: str) -> ErrorForm:
    """Return the form of the errors of an API, such as `compute`; an API without documents has both parts."""
    return next((served.errors for served in APIS.values() if served.document.startswith(f"{api}.")), ErrorForm.BOTH)


@attrs.frozen
class Method:
    """A method of an API.

    Attributes:
        id: such as `compute.instanceTemplates.insert`.
        api: the API's name, such as `compute`.
        version: of the API, such as `beta`.
        parameters: of path and query, by name, as the document describes them.
        request: the name of the schema of the request's body, if it has one.
        response: the name of the schema of the response's body, if it has one.
        is_patch: whether the body is a JSON Merge Patch.
        has_media: whether `alt=media` reads the resource's content.
    """

    id: str
    api: str
    version: str
    http_method: str
    parameters: Json
    request: str | None
    document: Document
    response: str | None = None
    is_patch: bool = False
    has_media: bool = False


@attrs.define
class Node:
    """A node in the tree of paths: its children, by literal and by pattern, and the methods whose paths end here."""

    literals: dict[str, Node] = attrs.Factory(dict)
    patterns: list[tuple[re.Pattern[str], Node]] = attrs.Factory(list)
    methods: dict[str, Method] = attrs.Factory(dict)

    def child(self, segment: str) -> Node:
        """Return the child for a path segment such as `zones` or `{zone}`; add it if necessary."""
        if "{" not in segment:
            return self.literals.setdefault(segment, Node())
        value = r"(?P<\1>[^/:]+)" if ":" in segment else r"(?P<\1>[^/]+)"
        pattern = re.compile(re.sub(r"\{\+?(\w+)\}", value, segment))
        for known, node in self.patterns:
            if known.pattern == pattern.pattern:
                return node
        added = Node()
        self.patterns.append((pattern, added))
        self.patterns.sort(key=lambda item: -len(item[0].pattern))
        return added


@attrs.define(eq=False)
class Document:
    """The description of one API version.

    Attributes:
        schemas: of objects, by name.
        standard: query parameters that every method has, as the document describes them.
        root: the tree of the methods' paths.
        ignores_unknown: as for the `Api`.
    """

    name: str
    schemas: Json
    standard: Json = attrs.Factory(dict)
    root: Node = attrs.Factory(Node)
    ignores_unknown: bool = False

    def add(self, method: Json, path: str) -> None:
        """Add a method to the tree."""
        node = self.root
        for segment in path.split("/"):
            node = node.child(segment)
        request, version = method.get("request", {}), self.name.rpartition(".")[2]
        node.methods[method["httpMethod"]] = Method(
            method["id"],
            method["id"].partition(".")[0],
            version,
            method["httpMethod"],
            method.get("parameters", {}),
            request.get("$ref"),
            self,
            method.get("response", {}).get("$ref"),
            is_patch=request.get(MERGE_PATCH, False),
            has_media=method.get("supportsMediaDownload", False),
        )


def source_of(name: str) -> str:
    """Return the text of a document as Google publishes it."""
    return (resources.files("googleapiclient") / "discovery_cache" / "documents" / f"{name}.json").read_text()


@functools.cache
def document(name: str) -> Document:
    """Read a document, such as `compute.v1`."""
    content = json.loads(source_of(name))
    api = APIS[name]
    api.amend(content)
    standard = content["parameters"]
    also = {alias: standard[meant] for alias, meant in _CLIENT_PARAMETERS.items()}
    described = Document(
        name, content["schemas"], {**standard, **also, **_UPLOAD_ID}, ignores_unknown=api.ignores_unknown
    )
    for method in methods_of(content):
        # Only the documents of some APIs repeat the prefix in their paths.
        path = method.get("flatPath") or method["path"]
        described.add(method, path.removeprefix(f"{api.prefixes[0]}/"))
    return described


def methods_of(content: Json) -> Iterator[Json]:
    """Yield the methods in the content of a document."""
    yield from content.get("methods", {}).values()
    for child in content.get("resources", {}).values():
        yield from methods_of(child)


def kinds(methods: Collection[str]) -> set[str]:
    """Return the kinds of the resources that some of these methods read, and others create or delete.

    A kind is the last part of a collection's path, such as `instances`.
    """
    return {kind for name in APIS for kind in _kinds(document(name).root, methods)}


def _kinds(node: Node, methods: Collection[str]) -> Iterator[str]:
    """Yield the kinds of the collections below a node."""
    for literal, collection in node.literals.items():
        one = [method for _, child in collection.patterns for method in child.methods.values()]
        verbs = {method.http_method for method in one if method.id in methods}
        insert = collection.methods.get("POST")
        if "GET" in verbs and (verbs & {"DELETE", "PUT"} or (insert is not None and insert.id in methods)):
            yield literal
        yield from _kinds(collection, methods)
    for _, child in node.patterns:
        yield from _kinds(child, methods)


Methods = dict[str, Method]
"""The methods of one path, by HTTP method."""
_PAGES: Final = Node()


def serve_page(path: str, method_id: str, parameters: Json) -> None:
    """Register a read-only page that no discovery document describes, such as `{bucket}/{object}`."""
    node = _PAGES
    for segment in path.split("/"):
        node = node.child(segment)
    page = Document("undocumented", {})
    node.methods["GET"] = Method(method_id, method_id.partition(".")[0], "", "GET", parameters, None, page)


def route(http_method: str, path: str) -> tuple[Method, dict[str, str]]:
    """Find the method of a request, and the parameters in its path, which is still percent-encoded.

    Raises:
        ApiError: 404 when no API has the path, 501 when it is one that no document describes, 405 when none of its
            methods is `http_method`.
    """
    clean = path.strip("/")
    methods, parameters = _documented(http_method, clean)
    if not methods and http_method == "GET":
        node, parameters = _find(_PAGES, clean.split("/"), {})
        methods = node.methods if node else {}
    if not methods and _is_known(http_method, clean):
        raise ApiError(501, f"{http_method} {path} is not emulated")
    if not methods:
        raise ApiError(404, f"{path} is not a path of any API that is emulated")
    if http_method not in methods:
        raise ApiError(405, f"{http_method} is not allowed on {path}; {', '.join(methods)} is")
    return methods[http_method], {name: unquote(value) for name, value in parameters.items()}


_BATCH: Final = re.compile(r"(?:batch/.+|.+/batch)")
"""The paths of batches of APIs that are not emulated, and those that older clients use."""


def _is_known(http_method: str, path: str) -> bool:
    """Return whether Google has the path, but no document describes it: a batch, or a change by the XML API."""
    return (http_method == "POST" and _BATCH.fullmatch(path) is not None) or is_xml(http_method, path)


def is_xml(http_method: str, path: str) -> bool:
    """Return whether a request that no document describes changes a bucket or an object by the XML API."""
    head, _, name = path.strip("/").partition("/")
    heads = {prefix.partition("/")[0] for api in APIS.values() for prefix in api.prefixes}
    is_change = http_method in {"DELETE", "PUT"} or (http_method == "POST" and bool(name))
    return is_change and bool(head) and head not in heads and not _BATCH.fullmatch(path.strip("/"))


def _documented(http_method: str, path: str) -> tuple[Methods, dict[str, str]]:
    """Find the methods of a path; if several APIs have it, those of the first that has this HTTP method."""
    found: tuple[Methods, dict[str, str]] = {}, {}
    for api in APIS.values():
        for prefix in api.prefixes:
            if path.startswith(f"{prefix}/"):
                node, parameters = _find(document(api.document).root, path.removeprefix(f"{prefix}/").split("/"), {})
                if node is not None:
                    # Clients send the content of a resumable upload by PUT.
                    session = {"PUT": node.methods["POST"]} if "upload" in prefix and "POST" in node.methods else {}
                    methods = node.methods | session
                    if http_method in methods:
                        return methods, parameters
                    found = found if found[0] else (methods, parameters)
    return found


def _find(node: Node, segments: list[str], parameters: dict[str, str]) -> tuple[Node | None, dict[str, str]]:
    """Follow path segments; return the node at the end, if it has methods, and the parameters on the way."""
    if not segments:
        return (node if node.methods else None), parameters
    head, *rest = segments
    for child, bound in _branches(node, head):
        end, all_parameters = _find(child, rest, parameters | bound)
        if end is not None:
            return end, all_parameters
    return None, parameters


def _branches(node: Node, segment: str) -> Iterator[tuple[Node, dict[str, str]]]:
    """Yield the nodes that a segment leads to, each with the parameters in the segment; a literal one comes first."""
    if segment in node.literals:
        yield node.literals[segment], {}
    for pattern, child in node.patterns:
        match = pattern.fullmatch(segment)
        if match:
            yield child, match.groupdict()
