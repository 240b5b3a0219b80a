"""Texts in messages: without secrets in any spelling, without credentials, and without control characters."""

from __future__ import annotations

import base64
import bisect
import functools
import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote

import attrs

_LONGEST: Final = 4000
_KEPT: Final = frozenset("\n\t")
_OBEYED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode's categories of characters that are not shown: control and format characters, halves of pairs, and unassigned
ones. Among them are the escape of terminals, and the marks that reverse the direction of a text."""


def printable(text: str) -> str:
    r"""Write characters that a terminal may obey as escapes such as `\x1b`; line ends and tabs are kept."""
    if text.isprintable():
        return text
    return "".join(letter if _is_shown(letter) else _escaped(letter) for letter in text)


def shortened(text: str, longest: int = _LONGEST) -> str:
    """Cut a text that is longer than a reader can use, and say how long it was."""
    return text if len(text) <= longest else f"{text[:longest]}... ({len(text):,} characters)"


def _is_shown(letter: str) -> bool:
    return letter in _KEPT or unicodedata.category(letter) not in _OBEYED


def _escaped(letter: str) -> str:
    return "?" if unicodedata.category(letter) == "Cs" else letter.encode("unicode_escape").decode()


SHORTEST: Final = 4
"""A secret with fewer characters is hidden only as a whole value, because too many other strings contain it."""
PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)"
    r"|PuTTY-User-Key-File-.*|b3BlbnNzaC1rZXktdjEA[A-Za-z0-9+/=\s\\]*",
    re.DOTALL,
)
"""Private keys, recognized by how they begin: every kind of PEM, PuTTY's format, and OpenSSH's without its header."""
_CREDENTIAL: Final = re.compile(r"(\bya29\.[\w.~+/-]+|\b1//0[\w-]{16,}|\bGOCSPX-[\w-]+|(?<=\bBearer )[\w.~+/-]{16,}=*)")
"""Google's access tokens, refresh tokens and client secrets, and any other bearer token."""
_JSON_WEB_TOKEN: Final = re.compile(r"(?<![\w-])(?>[\w-]*?\b(?=eyJ))(eyJ[\w-]{8,}+\.[\w-]{8,}(?:\.[\w-]*)?)")
"""A JSON Web Token, also at the end of a word. Each word is read once: to begin again at every `eyJ` is quadratic."""
_PERCENT: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+|.", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\+(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[0-7]{3}|[^\\]|\Z)|[^\\]", re.DOTALL)
_CUT: Final = re.compile(r"…|\.\.\.|\\u2026|%E2%80%A6")
_Span = tuple[int, int]


_MOST_REDACTED: Final = 20_000
"""Characters of a message; the rest is cut off, as no reader gets that far, and what is outside of it takes no time."""


def redact(text: str, secrets: frozenset[str]) -> str:
    """Mask every secret, every private key and every Google credential in a message; cut a very long one."""
    if len(text) > _MOST_REDACTED:
        text = f"{text[:_MOST_REDACTED]}..."
    spans = [found.span() for found in PRIVATE_KEY.finditer(text)]
    spans += [found.span(1) for form in (_CREDENTIAL, _JSON_WEB_TOKEN) for found in form.finditer(text)]
    spellings = frozenset(spelling for secret in secrets for spelling in _spellings(secret))
    plain = _Reading(text, range(len(text) + 1))
    spans.extend(plain.spans(spellings))
    if "%" in text:
        plain = plain.decoded(_PERCENT, unquote)
        spellings |= frozenset(map(unquote, spellings))  # what looks like an escape in a secret is decoded, too
        spans.extend(plain.spans(spellings))
    if "\\" in plain.text:
        unescaped = frozenset(_ESCAPE.sub(lambda found: _unescaped(found[0]), spelling) for spelling in spellings)
        spans.extend(plain.decoded(_ESCAPE, _unescaped).spans(spellings | unescaped))
    return _masked(text, spans).encode("utf-8", "replace").decode()


@attrs.frozen
class _Reading:
    """A message, perhaps decoded: what is quoted in a quotation is escaped in more ways than can be listed.

    Attributes:
        places: where in the message each character of the text begins, and the end of the message.
    """

    text: str
    places: Sequence[int]

    def decoded(self, form: re.Pattern[str], decode: Callable[[str], str]) -> _Reading:
        """Return the same message with each escape of a form decoded; `form` also matches any other character."""
        text, places = "", []
        for found in form.finditer(self.text):
            characters = decode(found[0])
            text += characters
            places += [self.places[found.start()]] * len(characters)
        return _Reading(text, [*places, self.places[-1]])

    def spans(self, spellings: frozenset[str]) -> Iterator[_Span]:
        """Yield where the message quotes a secret, or the beginning of one."""
        cuts = [found.start() for found in _CUT.finditer(self.text)]
        for spelling in spellings:
            for start, end in _spans(self.text, spelling, cuts):
                yield self.places[start], self.places[end]


_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t"}


def _unescaped(text: str) -> str:
    """Decode an escape of JSON or Python that may be escaped several times; return other characters as they are."""
    escape = text.lstrip("\\")
    if escape == text or not escape:
        return escape
    if escape[0] in "ux" and len(escape) > 1:
        return chr(int(escape[1:], 16))
    return chr(int(escape, 8)) if len(escape) > 1 else _CONTROLS.get(escape, escape)


_MASK: Final = "[secret]"


def _masked(text: str, spans: list[_Span]) -> str:
    """Replace parts of a text, which may overlap, by the mask; parts that touch share one."""
    parts: list[str] = []
    end = 0
    for start, stop in sorted(spans):
        if start > end or not parts:
            parts += [text[end:start], _MASK]
        end = max(end, stop)
    return "".join((*parts, text[end:]))


def _spans(text: str, spelling: str, cuts: list[int]) -> Iterator[_Span]:
    if len(spelling) < SHORTEST:
        yield from (span for span in _occurrences(text, spelling) if _is_quoted(text, span))
        return
    yield from _occurrences(text, spelling)
    yield from _beginnings(text, spelling, cuts)


def _occurrences(text: str, spelling: str) -> Iterator[_Span]:
    start = text.find(spelling)
    while start >= 0:
        yield start, start + len(spelling)
        start = text.find(spelling, start + 1)


_QUOTES: Final = "'\"`"


def _is_quoted(text: str, span: _Span) -> bool:
    before, after = text[max(0, span[0] - 1) : span[0]], text[span[1] : span[1] + 1]
    return before != "" and before in _QUOTES and after == before


def _beginnings(text: str, spelling: str, cuts: list[int]) -> Iterator[_Span]:
    """Yield the beginnings of a secret that end where a message was cut; `cuts` are in order."""
    for start, least in _occurrences(text, spelling[:SHORTEST]):
        index = bisect.bisect_left(cuts, least)
        while index < len(cuts) and spelling.startswith(text[start : cuts[index]]):
            yield start, cuts[index]
            index += 1  # once a part is no beginning, a longer one is none either


@functools.lru_cache(1024)
def _spellings(secret: str) -> frozenset[str]:
    """Return the spellings of a secret in messages: plain, quoted, encoded, and the parts by which it may be named."""
    bare = secret.strip()
    texts = {secret, bare, *_pieces(bare), *_ends_of_link(bare)}
    return frozenset(filter(None, (spelling for text in texts for spelling in _encodings(text))))


_SHORTEST_PIECE: Final = 8
"""A piece of a secret with fewer characters is not masked alone: `done` and `exit 0` are lines of many scripts."""
_SEPARATOR: Final = re.compile(r"[\r\n?#]")
"""Between the pieces of a secret: messages may quote one line of it, and the path of a URL ends before ? and #."""


def _pieces(secret: str) -> Iterable[str]:
    return (piece.strip() for piece in _SEPARATOR.split(secret) if len(piece.strip()) >= _SHORTEST_PIECE)


_LONGEST_LINK: Final = 2048


def _ends_of_link(secret: str) -> Iterator[str]:
    """Yield the names and partial URLs by which Google may call what a URL names."""
    if len(secret) <= _LONGEST_LINK and not any(map(str.isspace, secret)):
        parts = secret.split("/")
        ends = ("/".join(parts[index:]) for index in range(1, len(parts)))
        yield from (end for end in ends if len(end) >= SHORTEST)


def _encodings(text: str) -> Iterator[str]:
    data = text.encode("utf-8", "replace")
    for quoted in (f'"{text}"', json.dumps(text), json.dumps(text, ensure_ascii=False), repr(text)):
        yield quoted[1:-1]
        yield html.escape(quoted[1:-1])
        yield html.escape(quoted[1:-1], quote=False)
    yield from (quote(data), quote_plus(data))
    if not text.isascii():
        yield data.decode("latin-1")  # so Python writes bytes: each byte is an escape of its own
    if len(text) >= SHORTEST:
        yield from (base64.b64encode(data).decode().rstrip("="), base64.urlsafe_b64encode(data).decode().rstrip("="))


def texts_of_number(value: Any) -> tuple[str, ...]:
    """Return how messages write a number."""
    return (str(value), f"{value:,}") if isinstance(value, int) else (str(value),)
