"""Syntax highlighting of requests in documents: the method and the path, and the body in the lines below."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, using
from pygments.lexers.data import JsonLexer
from pygments.token import Keyword, Name, Whitespace


class RequestLexer(RegexLexer):  # type: ignore[misc]  # Pygments has no types
    """Requests such as `POST /v1/things`; Pygments' own lexer requires a version of HTTP after the path."""

    name = "Request"
    aliases: ClassVar = ["http"]
    tokens: ClassVar = {
        "root": [
            (r"^([A-Z]+)( +)(\S+)$", bygroups(Keyword, Whitespace, Name.Tag)),
            (r"\s+", Whitespace),
            (r"(?s)[{\[].*?(?=^[A-Z]+ |\Z)", using(JsonLexer)),
        ]
    }
