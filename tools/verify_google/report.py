"""The report of a verification, for docs/verified.md."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

import attrs

from gcpx import __version__
from verify_google.place import Exchange
from verify_google.questions import QUESTIONS
from verify_google.shapes import differences

_MOST: Final = 300
"""The maximum number of differences of shapes in the report."""


@attrs.define
class Verified:
    """The findings of a verification.

    Attributes:
        steps: the outcome of each step: `ok`, why it failed, or in brackets why it did not run.
        answers: the answers to the questions, by assumption; in brackets if there is none.
        left: resources that could not be deleted.
        interrupted: whether the user interrupted it.
    """

    exchanges: list[Exchange]
    steps: dict[str, str] = attrs.Factory(dict)
    answers: dict[str, str] = attrs.Factory(dict)
    left: list[str] = attrs.Factory(list)
    interrupted: bool = False


def report(google: Verified, emulator: Verified) -> tuple[str, bool]:
    """Write the report; also return whether nothing differs, failed, or is left."""
    shapes = differences(google.exchanges, emulator.exchanges)
    failed = [name for name, outcome in google.steps.items() if not _is_fine(outcome)]
    wrong = [
        question.assumption
        for question in QUESTIONS
        if not _is_fine(google.answers[question.assumption], question.assumed)
    ]
    summary = (
        f"gcpx {__version__}, {datetime.now(UTC):%Y-%m-%d}: {len(google.exchanges):,} exchanges. "
        f"Steps that failed: {len(failed)}. Assumptions that are wrong: {len(wrong)}. "
        f"Differences of shapes: {len(shapes)}. Left behind: {len(google.left)}."
    )
    lines = [
        "# What Google does",
        "",
        summary,
        "",
        "## Steps",
        "",
        "| step | at Google | in the emulator |",
        "| --- | --- | --- |",
        *(_row(name, outcome, emulator.steps.get(name, "")) for name, outcome in google.steps.items()),
        "",
        "## Assumptions",
        "",
        "| assumption | gcpx assumes | Google | the emulator | verdict |",
        "| --- | --- | --- | --- | --- |",
        *(
            _row(
                question.assumption,
                question.assumed,
                google.answers[question.assumption],
                emulator.answers[question.assumption],
                _verdict(google.answers[question.assumption], question.assumed),
            )
            for question in QUESTIONS
        ),
        "",
        "## Shapes of responses",
        "",
        *(f"- {line}" for line in shapes[:_MOST] or ["no difference"]),
        *([f"- and {len(shapes) - _MOST:,} more"] if len(shapes) > _MOST else []),
        *(["", "## Left behind", "", *(f"- {line}" for line in google.left)] if google.left else []),
        "",
    ]
    return "\n".join(lines), not (shapes or failed or wrong or google.left)


def _is_fine(answer: str, assumed: str = "ok") -> bool:
    return answer == assumed or answer.startswith("(not asked") or (assumed == "ok" and answer.startswith("("))


def _verdict(answer: str, assumed: str) -> str:
    if answer.startswith("(not asked"):
        return "open"
    return "as assumed" if answer == assumed else "**wrong**"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '/').replace(chr(10), ' ') for cell in cells)} |"
