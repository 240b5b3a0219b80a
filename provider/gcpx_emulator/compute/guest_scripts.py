"""The guest attributes that the scripts in an instance's metadata report.

The emulator runs no scripts. Of the commands in `startup-script` and `shutdown-script`, it carries out those that write
or delete a guest attribute in the form of Google's guide: `curl -X PUT --data VALUE -H "Metadata-Flavor: Google" URL`.

Source: Compute Engine guide, "Set and query guest attributes".
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from gcpx_emulator.compute.instance_view import is_on
from gcpx_emulator.core.json_data import Json

STARTUP: Final = "startup-script"
SHUTDOWN: Final = "shutdown-script"
_ENABLED: Final = "enable-guest-attributes"
_URL: Final = re.compile(
    r"http://(?:metadata\.google\.internal|169\.254\.169\.254)/computeMetadata/v1/instance/guest-attributes/"
    r"(?P<name>[^/\s]{1,128}/[^/\s]{1,128})"
)
_HEADER: Final = re.compile(r"Metadata-Flavor:\s*Google", re.IGNORECASE)
_OPTIONS: Final = {
    "-X": "method",
    "--request": "method",
    "-d": "data",
    "--data": "data",
    "-H": "header",
    "--header": "header",
}
_EXPANDED: Final = re.compile(r"[$`]")
"""The parts of a value that a shell replaces; the value is then unknown."""
_ENDS_A_COMMAND: Final = re.compile(r"[&|;()<>]+")


def attributes_after(instance: Json, script: str, attributes: Mapping[str, str]) -> dict[str, str]:
    """Return the guest attributes that an instance has after one of its scripts.

    Args:
        instance: the instance, with its metadata.
        script: the key of the script, `startup-script` or `shutdown-script`.
        attributes: the guest attributes before the script runs, by `NAMESPACE/KEY`.
    """
    items = {item["key"]: item.get("value") or "" for item in (instance.get("metadata") or {}).get("items") or ()}
    found = dict(attributes)
    for name, value in _changes(items.get(script, "")) if is_on(items.get(_ENABLED, "")) else ():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = value
    return found


def _changes(script: str) -> Iterator[tuple[str, str | None]]:
    """Yield the names of the attributes that a script writes, each with its value, or with None if it deletes it."""
    for command in _commands(script):
        options: dict[str, list[str]] = defaultdict(list)
        for before, word in itertools.pairwise(command):
            options[_OPTIONS.get(before, "other")].append(word)
        name = next((url["name"] for word in options["other"] if (url := _URL.fullmatch(word))), None)
        if name is None or not any(map(_HEADER.fullmatch, options["header"])):
            continue
        if options["method"] == ["DELETE"]:
            yield name, None
        elif options["method"] == ["PUT"] and options["data"] and not _EXPANDED.search(options["data"][-1]):
            yield name, options["data"][-1]


def _commands(script: str) -> Iterator[list[str]]:
    """Yield the words of each command of a script that calls `curl`, as a shell divides them."""
    for line in script.replace("\\\n", " ").splitlines():
        if "guest-attributes/" not in line:
            continue
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        try:
            divided = list(words)
        except ValueError:  # the quotation continues in the next line
            continue
        for ends, command in itertools.groupby(divided, lambda word: bool(_ENDS_A_COMMAND.fullmatch(word))):
            called = list(command)
            if not ends and "curl" in called:
                yield called[called.index("curl") :]
