"""Removes secrets in any spelling, credentials and control characters from messages."""

from __future__ import annotations

import base64
import bisect
import functools
import itertools
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import unquote

import attrs

_LONGEST: Final = 4000
_KEPT: Final = frozenset("\n\t")
_OBEYED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode's categories of unprintable characters: control and format characters, surrogates, and unassigned ones.

Among them are the escape of terminals, and the marks that reverse the direction of a text.
"""


def printable(text: str) -> str:
    r"""Write control characters as escapes such as `\x1b`; line ends and tabs are kept."""
    if text.isprintable():
        return text
    return "".join(letter if letter in _KEPT else _shown(letter) for letter in text)


def shortened(text: str, longest: int = _LONGEST) -> str:
    """Cut a very long text, and say how long it was."""
    return text if len(text) <= longest else f"{text[:longest]}... ({len(text):,} characters)"


def _shown(letter: str) -> str:
    category = unicodedata.category(letter)
    if category not in _OBEYED:
        return letter
    return "?" if category == "Cs" else letter.encode("unicode_escape").decode()


SHORTEST: Final = 4
"""A shorter secret is hidden only as a whole value, because too many other strings contain it."""
_PEM, _PUTTY, _OPENSSH = "-----BEGIN ", "PuTTY-User-Key-File-", "b3BlbnNzaC1rZXktdjEA"
_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN[ +][A-Z0-9 +]*PRIVATE[ +]KEY.*?(?:-----END[ +][A-Z0-9 +]*PRIVATE[ +]KEY-----|\Z)"
    rf"|{_PUTTY}.*|{_OPENSSH}[A-Za-z0-9+/=\s\\]*",
    re.DOTALL,
)
"""The beginnings of private keys: every kind of PEM, PuTTY's format, and OpenSSH's without its header.

The query of a URL has plus signs in place of spaces.
"""
_BEGIN: Final = r"(?<![^\W_])"
"""The beginning of a word, also after an underscore."""
_CREDENTIAL: Final = re.compile(rf"{_BEGIN}(?:ya29\.[\w.~+/-]+|1//0[\w-]{{16,}}|GOCSPX-[\w-]+)")
"""Google's access tokens, refresh tokens and client secrets."""
_BEARER: Final = re.compile(rf"{_BEGIN}bearer(?:[\s+]|%20)+([\w.~+/-]{{16,}}=*)", re.IGNORECASE)
"""Any bearer token. A space has other forms in URLs."""
_JSON_WEB_TOKEN: Final = re.compile(rf"(?<![\w-])(?>[\w-]*?{_BEGIN}(?=eyJ))(eyJ[\w-]{{8,}}+\.[\w-]{{8,}}(?:\.[\w-]*)?)")
"""A JSON Web Token, also at the end of a word. Each word is read once: a start at every `eyJ` would be quadratic."""
_BY_FORM: Final = ((_PRIVATE_KEY, 0), (_CREDENTIAL, 0), (_BEARER, 1), (_JSON_WEB_TOKEN, 1))
"""The forms of unknown secrets, each with the group to mask."""
_CUT_AT: Final = r"…|\.\.\.|\\u2026|%E2%80%A6"
"""Marks the place where a message was cut."""
_CUT: Final = re.compile(_CUT_AT)
_PERCENT: Final = re.compile(rf"(?:%[0-9A-Fa-f]{{2}})+|(?P<cut>%[0-9A-Fa-f]?(?={_CUT_AT}))")
_REFERENCE: Final = re.compile(
    r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});"
    rf"|(?P<cut>&(?:#[0-9]{{0,7}}|#[xX][0-9a-fA-F]{{0,6}}|[a-zA-Z]{{0,8}})(?={_CUT_AT}))"
)
_ESCAPE: Final = re.compile(
    r"\\+u[dD][89abAB][0-9a-fA-F]{2}\\+u[dD][c-fC-F][0-9a-fA-F]{2}"
    rf"|(?P<cut>\\+(?:u[dD][89abAB][0-9a-fA-F]{{2}}(?:\\+(?:u[0-9a-fA-F]{{0,3}})?)?"
    rf"|u[0-9a-fA-F]{{0,3}}|U[0-9a-fA-F]{{0,7}}|x[0-9a-fA-F]?|[0-7]{{0,2}})(?={_CUT_AT}))"
    r"|\\+(?:u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[0-7]{3}|[^\\]|\Z)",
    re.DOTALL,
)
_Span = tuple[int, int]
_Parts = Mapping[str, Sequence[int]]
"""The parts of one size of a text, and where they begin."""
_MOST_REDACTED: Final = 20_000
"""The maximum number of characters of a message; the rest is cut off, and takes no time."""


def redact(text: str, secrets: frozenset[str]) -> str:
    """Mask every secret, every private key and every Google credential in a message; cut a very long one."""
    if len(text) > _MOST_REDACTED:
        text = f"{text[:_MOST_REDACTED]}..."
    reading = _Reading(text, range(len(text) + 1))
    spellings = [_Spellings.of(secret) for secret in secrets]
    spans = [*reading.spans(spellings)]
    for form, decode in _DECODINGS:
        if form.search(reading.text):
            reading = reading.decoded(form, decode)
            spans.extend(reading.spans(spellings))
    return _masked(text, spans).encode("utf-8", "replace").decode()


def holds_private_key(text: str) -> bool:
    """Return whether a text contains a private key, or the beginning of one."""
    # This runs for every string of every resource, and a search for a fixed text is much faster than for a pattern.
    if len(text) < len(_OPENSSH) or not (_PEM in text or _PUTTY in text or _OPENSSH in text):
        return False
    return _PRIVATE_KEY.search(text) is not None


@attrs.frozen
class _Reading:
    """A message, possibly decoded: nested quotations are escaped in more ways than can be listed.

    Attributes:
        places: the position in the message of each character of the text, and the end of the message.
    """

    text: str
    places: Sequence[int]

    def decoded(self, form: re.Pattern[str], decode: Callable[[str], str]) -> _Reading:
        """Return the same message with each escape of a form decoded."""
        text, places, end = "", list[int](), 0
        for found in form.finditer(self.text):
            start, characters = found.start(), _characters(found, decode)
            text += self.text[end:start] + characters
            places += [*self.places[end:start], *[self.places[start]] * len(characters)]
            end = found.end()
        return _Reading(text + self.text[end:], [*places, *self.places[end:]])

    def spans(self, secrets: Sequence[_Spellings]) -> Iterator[_Span]:
        """Yield the places where the message quotes a secret, or the beginning of one."""
        text = _folded(self.text)
        parts = {size: _places_of_parts(text, size) for size in _SIZES}
        cuts = [found.start() for found in _CUT.finditer(self.text)]
        for secret in secrets:
            whole = (_occurrences(text, each) for each in secret.possible(parts))
            for start, end in itertools.chain(*whole, secret.beginnings(text, cuts, parts[SHORTEST])):
                yield self.places[start], self.places[end]
        for form, group in _BY_FORM:
            for found in form.finditer(self.text):
                start, end = found.span(group)
                yield self.places[start], self.places[end]


_FINAL_SIGMA: Final = "\N{GREEK SMALL LETTER FINAL SIGMA}"
_SIGMA: Final = "\N{GREEK SMALL LETTER SIGMA}"


def _folded(text: str) -> str:
    """Return a text of the same length in which the case of letters makes no difference."""
    # The first letter would become two, and the small form of a sigma depends on what follows it.
    return text.replace("İ", "i").lower().replace(_FINAL_SIGMA, _SIGMA)


def _places_of_parts(text: str, size: int) -> _Parts:
    places: dict[str, list[int]] = {}
    for at in range(len(text) - size + 1):
        places.setdefault(text[at : at + size], []).append(at)
    return places


def _characters(found: re.Match[str], decode: Callable[[str], str]) -> str:
    """Return the character of an escape; nothing for a cut one."""
    return decode(found[0]) if found["cut"] is None else ""


_SIZES: Final = (SHORTEST, 16, 0)
"""The sizes, in characters, of the parts that index a text for the search."""
_MOST_SPELLED: Final = 256
"""The number of secrets with cached spellings; the spellings of a long secret take a megabyte."""


@attrs.frozen
class _Spellings:
    """The spellings of a secret in decoded messages, in lower case, and indexed for a fast search.

    Attributes:
        by_part: the spellings, by the size and the text of the part with which they begin.
        ordered: the spellings that a message may quote in part, from the beginning, in alphabetical order.
        first: the beginnings of these.
    """

    by_part: Mapping[int, Mapping[str, Sequence[str]]]
    ordered: Sequence[str]
    first: frozenset[str]

    @staticmethod
    @functools.lru_cache(_MOST_SPELLED)
    def of(secret: str) -> _Spellings:
        """Spell a secret, and the parts by which messages may name it."""
        by_part: dict[int, dict[str, list[str]]] = {size: {} for size in _SIZES}
        bare = secret.strip()
        pieces = (piece.strip() for piece in _SEPARATOR.split(bare))
        parts = {secret, bare, *(piece for piece in pieces if len(piece) >= _SHORTEST_PIECE), *_ends_of_link(bare)}
        every = sorted({_folded(each) for part in parts for each in _spelled(part)})
        for each in every:
            size = max(size for size in _SIZES if size <= len(each))
            by_part[size].setdefault(each[:size], []).append(each)
        ordered = [each for each in every if len(each) >= SHORTEST]
        return _Spellings(by_part, ordered, frozenset(each[:SHORTEST] for each in ordered))

    def possible(self, parts: Mapping[int, _Parts]) -> Iterator[str]:
        """Yield the spellings that a text can contain; `parts` are all of its parts of some sizes.

        A script has thousands of lines, and searching a message for each of them would take long.
        """
        for size, spellings in self.by_part.items():
            for beginning in spellings.keys() & parts[size].keys():
                for each in spellings[beginning]:
                    middle = (len(each) - size) // 2
                    if each[middle : middle + size] in parts[size] and each[len(each) - size :] in parts[size]:
                        yield each

    def beginnings(self, text: str, cuts: Sequence[int], parts: _Parts) -> Iterator[_Span]:
        """Yield the beginnings of spellings that end where a text was cut; `parts` are its shortest ones."""
        first = self.first & parts.keys() if cuts else frozenset()
        covered = 0
        for start in sorted(itertools.chain.from_iterable(parts[each] for each in first)):
            # A beginning that ends at a cut reached by an earlier one lies within that.
            cut = known = max(covered, bisect.bisect_left(cuts, start + SHORTEST))
            while cut < len(cuts) and self._is_beginning(text[start : cuts[cut]]):
                cut += 1
            if cut > known:
                yield start, cuts[cut - 1]
                covered = cut

    def _is_beginning(self, part: str) -> bool:
        index = bisect.bisect_left(self.ordered, part)
        return index < len(self.ordered) and self.ordered[index].startswith(part)


_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t"}
_UNIT: Final = re.compile(r"\\+u")
"""The boundary between the two units of a character that JSON escapes as a pair."""


def _unescaped(text: str) -> str:
    """Decode an escape of JSON or Python that may be escaped several times; return other characters unchanged."""
    escape = text.lstrip("\\")
    if escape == text or not escape:
        return escape
    if escape[0] == "U" and len(escape) > 1:
        return chr(int(escape[1:], 16))
    if escape[0] in "ux" and len(escape) > 1:
        units = (int(digits, 16).to_bytes(2) for digits in _UNIT.split(escape[1:]))
        return b"".join(units).decode("utf-16-be", "surrogatepass")
    return chr(int(escape, 8)) if len(escape) > 1 else _CONTROLS.get(escape, escape)


def _unreferenced(text: str) -> str:
    if text[1] == "#":  # html drops control characters, and reads those from 128 on as Windows does
        number = int(text[3:-1], 16) if text[2] in "xX" else int(text[2:-1])
        return chr(number) if number <= sys.maxunicode else text
    import html  # noqa: PLC0415 - loads a long table, which only messages need

    return html.unescape(text)


_UNQUOTED: Final = functools.partial(unquote, errors="ignore")  # the rest of a cut character is dropped
_FORMS: Final = ((_PERCENT, _UNQUOTED), (_REFERENCE, _unreferenced), (_ESCAPE, _unescaped))
"""The escapes of URLs, of HTML, and of JSON and Python, and how each is decoded."""
_MOST_QUOTATIONS: Final = 3
"""The maximum depth of nested quotations; each level escapes the text once more."""
_DECODINGS: Final = _FORMS * _MOST_QUOTATIONS
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


def _occurrences(text: str, spelling: str) -> Iterator[_Span]:
    """Yield where a text has a spelling; a short one counts only between quotes."""
    start = text.find(spelling)
    while start >= 0:
        end = start + len(spelling)
        before, after = text[max(0, start - 1) : start], text[end : end + 1]
        if len(spelling) >= SHORTEST or (before == after and before in _QUOTES):
            yield start, end
        start = text.find(spelling, start + 1)


_QUOTES: Final = frozenset("'\"`")


def _spelled(text: str) -> set[str]:
    """Return the spellings of a text in messages after decoding all escapes, even those in the text itself."""
    text = text[:_MOST_REDACTED]  # a message cannot show more of it
    plain = {text, *_transcriptions(text)}
    every = now = plain
    if any(form.search(text) for form, _ in _FORMS):
        for form, decode in _DECODINGS:
            now = {form.sub(functools.partial(_characters, decode=decode), each) for each in now} | plain
            every = every | now
    return every - {""}


_SHORTEST_PIECE: Final = 8
"""A shorter piece of a secret is not masked alone: `done` and `exit 0` are lines of many scripts."""
_SEPARATOR: Final = re.compile(r"[\r\n?#]")
"""The boundaries of a secret's pieces: messages may quote one line, and a URL's path ends before ? and #."""
_LONGEST_LINK: Final = 2048
_MOST_SEGMENTS: Final = 32
"""The number of segments at the end of a URL that form names and partial URLs; Google's have half as many."""


def _ends_of_link(secret: str) -> Iterator[str]:
    """Yield the names and partial URLs that Google may use for the resource of a URL."""
    if len(secret) <= _LONGEST_LINK and not any(map(str.isspace, secret)):
        parts = secret.split("/")[-_MOST_SEGMENTS:]
        ends = ("/".join(parts[index:]) for index in range(1, len(parts)))
        yield from (end for end in ends if len(end) >= SHORTEST)


def _transcriptions(text: str) -> Iterator[str]:
    data = text.encode("utf-8", "replace")
    yield text.replace(" ", "+")
    if not text.isascii():
        yield data.decode("latin-1")  # Python writes bytes so: each byte is an escape of its own
    if len(text) >= SHORTEST:
        yield from (base64.b64encode(data).decode().rstrip("="), base64.urlsafe_b64encode(data).decode().rstrip("="))
