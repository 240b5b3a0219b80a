"""Forms of strings with named parts, so that a failure can name the wrong part."""

from __future__ import annotations

import difflib
import functools
import ipaddress
import re
from collections.abc import Mapping
from typing import Final

import attrs


@attrs.frozen
class Part:
    """A part of a form.

    Attributes:
        regex: the regular expression of the part.
        words: the same in words.
        place: a regular expression for anything that may be meant as this part, right or wrong.
    """

    regex: str
    words: str
    place: str = "[^/]*?"


@attrs.frozen(eq=False)
class Known:
    """Google's names that this version knows. Google may have added others since, so an unknown name is a warning.

    Attributes:
        what: what they name, such as `region`.
        names: the names.
        place: a regular expression; its first group is the name in a whole string.
    """

    what: str
    names: tuple[str, ...]
    place: str

    def mistaken(self, text: str) -> tuple[str, list[str]]:
        """Return the name in a string, and the one or two names that it resembles; none if it is known.

        There may be two, because `us-est1` is as close to `us-east1` as to `us-west1`.
        """
        found = re.fullmatch(self.place, text)
        if found is None or found[1] in self.names:
            return "", []
        return found[1], difflib.get_close_matches(found[1], self.names, n=2, cutoff=0.85)


@attrs.frozen(eq=False)
class Form:
    """The form of a whole string.

    Attributes:
        regex: the regular expression of the string.
        words: the same in words.
        shapes: the ways to write it, with the names of parts: `projects/PROJECT/topics/TOPIC`.
        parts: the parts by name.
        known: Google's names, such as regions, of which the string should contain one; None if nothing is known.
    """

    regex: str
    words: str
    shapes: tuple[str, ...] = ()
    parts: Mapping[str, Part] = attrs.Factory(dict)
    known: Known | None = None

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled expression; compiling takes time, and a run needs few of the forms."""
        return re.compile(self.regex)


def form(*shapes: str, words: str = "", before: str = "", **parts: Part) -> Form:
    """Build a form from its shapes; each may begin with the regular expression `before`."""
    strict = "|".join(_regex(shape, {name: part.regex for name, part in parts.items()}) for shape in shapes)
    listed = " or ".join(filter(None, (", ".join(shapes[:-1]), shapes[-1])))
    return Form(f"(?:{before})?(?:{strict})" if before else strict, words or listed, shapes, parts)


def ip_version(text: str) -> int:
    """Return the version of an IP address; 0 for any other text."""
    try:
        return ipaddress.ip_address(text).version
    except ValueError:
        return 0


def wrong_part(form: Form, text: str) -> str | None:
    """Name the wrong part of a string, with the shape that the rest fits; None if it fits no shape."""
    for shape in form.shapes:
        names = re.findall("|".join(form.parts), shape)
        places = {name: f"({part.place})" for name, part in form.parts.items()}
        found = re.fullmatch(_regex(shape, places, group=False), text)
        for name, given in zip(names, found.groups() if found else (), strict=False):
            part = form.parts[name]
            if not re.fullmatch(part.regex, given):
                return f"{shape}, where {name} is {part.words}" if shape != name else part.words
    return None


def _regex(shape: str, holes: Mapping[str, str], *, group: bool = True) -> str:
    pieces = re.split(f"({'|'.join(holes)})", shape) if holes else [shape]
    wrap = "(?:{})" if group else "{}"
    return "".join(wrap.format(holes[piece]) if piece in holes else re.escape(piece) for piece in pieces)


_NAME: Final = r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?"
_PREFIX: Final = r"(?:https?://[^/\s]+/(?:compute/)?(?:v1|beta)/)?(?:projects/[^/\s]+/)?"
PROJECT_ID: Final = (
    r"(?:(?:[-a-z0-9]{1,63}\.)*(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?):)?"
    r"(?:[0-9]{1,19}|[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)"
)
"""An ID, also with a domain, or a number, as Google's API description allows in a request's path."""
PROJECT: Final = Form(
    PROJECT_ID, "the ID or number of a project: lower-case letters, digits and hyphens, such as my-project"
)
REGIONS: Final = tuple(
    """
    africa-south1 asia-east1 asia-east2 asia-northeast1 asia-northeast2 asia-northeast3 asia-south1 asia-south2
    asia-southeast1 asia-southeast2 asia-southeast3 asia-southeast4 australia-southeast1 australia-southeast2
    europe-central2 europe-north1 europe-north2 europe-north3 europe-southwest1 europe-west1 europe-west2 europe-west3
    europe-west4 europe-west5 europe-west6 europe-west8 europe-west9 europe-west10 europe-west12 europe-west15
    me-central1 me-central2 me-west1 northamerica-northeast1 northamerica-northeast2 northamerica-south1
    southamerica-east1 southamerica-west1 us-central1 us-central2 us-central6 us-east1 us-east4 us-east5 us-east7
    us-south1 us-west1 us-west2 us-west3 us-west4 us-west8
    """.split()  # noqa: SIM905 - easier to read and to compare than a list
)
"""The regions of the endpoints in Google's discovery documents of 2026-11-07 (google-api-python-client 2.202.0)."""
REGION: Final = Form(
    rf"(?:{_PREFIX}regions/)?(?!global$)(?![-a-z0-9]*\d-[a-z]$){_NAME}",
    "a region, such as us-east1, regions/us-east1 or its URL; us-east1-b is a zone",
    known=Known("region", REGIONS, "(?:.*/)?([^/]+)"),
)
ZONE: Final = Form(
    rf"(?:{_PREFIX}zones/)?(?![a-z]+(?:-[a-z]+)+\d+$){_NAME}",
    "a zone, such as us-east1-b, zones/us-east1-b or its URL; us-east1 is a region",
    known=Known("region", REGIONS, "(?:.*/)?([^/]+)-[a-z]"),
)
SEGMENT: Final = r"(?!\.\.?(?:/|\Z))[^/\s?#%\\]+"
"""A name in a link. As a segment of a URL's path, `.` and `..` would lead to another resource."""
LINK_PARTS: Final = {
    "PROJECT": Part(PROJECT_ID, "the ID or number of a project"),
    "REGION": Part(SEGMENT, "a region, such as us-east1"),
    "ZONE": Part(SEGMENT, "a zone, such as us-east1-b"),
    "NAME": Part(SEGMENT, "a name without spaces"),
}
"""The parts of links, by the words that stand for them in `patterns.form`."""
