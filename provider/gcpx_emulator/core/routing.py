"""Finds the method of a request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from gcpx_emulator.core.discovery import APIS, Method, Node, document, undocumented_method
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json

Methods = dict[str, Method]
"""The methods of one path, by HTTP method."""
_PAGES: Final = Node()


def serve_page(path: str, method_id: str, parameters: Json) -> None:
    """Register a page that no discovery document describes, such as `{bucket}/{object}`; it can only be read."""
    node = _PAGES
    for segment in path.split("/"):
        node = node.child(segment)
    node.methods["GET"] = undocumented_method(method_id, parameters)


def route(http_method: str, path: str) -> tuple[Method, dict[str, str]]:
    """Find the method of a request, and the parameters in its path; the path is given with its escapes.

    Raises:
        ApiError: 404 when no API has the path, 405 when none of its methods is `http_method`.
    """
    clean = path.strip("/")
    methods, parameters = _documented(clean)
    if not methods and http_method == "GET":
        methods, parameters = _page(clean)
    if not methods:
        raise ApiError(404, f"{path} is not a path of any API that is emulated")
    if http_method not in methods:
        raise ApiError(405, f"{http_method} is not allowed on {path}; {', '.join(methods)} is")
    return methods[http_method], {name: unquote(value) for name, value in parameters.items()}


def _page(path: str) -> tuple[Methods, dict[str, str]]:
    node, parameters = _find(_PAGES, path.split("/"), {})
    return (node.methods if node else {}), parameters


def _documented(path: str) -> tuple[Methods, dict[str, str]]:
    for api in APIS.values():
        for prefix in api.prefixes:
            if path.startswith(f"{prefix}/"):
                node, parameters = _find(document(api.document).root, path.removeprefix(f"{prefix}/").split("/"), {})
                if node is not None:
                    return _with_sessions(prefix, node.methods), parameters
    return {}, {}


def _with_sessions(prefix: str, methods: Methods) -> Methods:
    """Add PUT, by which the clients of a resumable upload send its content."""
    return methods | {"PUT": methods["POST"]} if "upload" in prefix and "POST" in methods else methods


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
