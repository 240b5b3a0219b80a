"""Write what a preview says about the resources, as Markdown: what an update does, warnings and errors.

    PULUMI_DEBUG_COMMANDS=true pulumi preview --event-log events.jsonl ...
    python messages.py events.jsonl >> "$GITHUB_STEP_SUMMARY"

With `--diff`, the CLI prints these messages to stderr, without the names of the resources. Its event log has both.
"""

import argparse
import html
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

SHOWN = ("info", "info#err", "warning", "error")
"""The severities of messages for people; the log also has those for debugging."""


def messages(log: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the lasting messages in an event log, each with the URN of its resource, which may be empty."""
    for line in log:
        event: dict[str, Any] = json.loads(line).get("diagnosticEvent") or {}
        if event.get("severity") in SHOWN and not event.get("ephemeral"):
            yield event.get("urn", ""), f"{event.get('prefix', '')}{event['message']}".strip()


def markdown(log: Iterable[str]) -> str:
    """Write the messages under the type and the name of each resource; empty if there are none."""
    found: dict[str, list[str]] = {}
    for urn, text in messages(log):
        found.setdefault(urn, []).append(text)
    texts = {urn: html.escape(chr(10).join(found[urn])) for urn in found}
    return "".join(f"<pre>\n<b>{heading(urn)}</b>\n{text}\n</pre>\n\n" for urn, text in texts.items())


def heading(urn: str) -> str:
    """Name a resource by the type and the name in its URN, `urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME`."""
    if not urn:
        return "the program"
    _, _, types, name = urn.split("::", 3)
    return html.escape(f"{types.rpartition('$')[2]} {name}")


def main() -> None:
    """Read the event log that the command line names."""
    parser = argparse.ArgumentParser(description="Write the messages of a preview as Markdown.")
    parser.add_argument("log", type=Path, help="what `pulumi preview --event-log` has written")
    with parser.parse_args().log.open(encoding="utf-8") as log:
        sys.stdout.write(markdown(log))


if __name__ == "__main__":
    main()
