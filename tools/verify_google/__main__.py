"""Runs the verification; `make verify-google PROJECT=...` starts it, and docs/verified.md describes it."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import grpc
from engines.driver import failed
from google.protobuf import empty_pb2

from gcpx.errors import ProviderError
from gcpx_emulator.testing import background
from verify_google.cleaning import clean
from verify_google.place import Place, place
from verify_google.questions import QUESTIONS, answer, begin
from verify_google.report import Verified, report
from verify_google.steps import LATER_STEPS, STEPS, Skipped

_COSTS = """\
This creates in the project {project} what docs/verified.md lists: at most four e2-micro instances with disks of 10 GB,
for about ten minutes, a machine image, templates, a bucket, a topic and, with OSLOGIN_USER, an SSH key. At the prices
of https://cloud.google.com/compute/all-pricing that costs a few cents. Everything has names that begin with
gcpx-verify-, and is deleted at the end, also after ^C. The project needs the network `default`. Use a project for
tests: its instances, templates, buckets and topics are listed, but nothing that has another name is changed.
"""


def _verified(where: Place, say: Callable[[str], None]) -> Verified:
    """Run all steps, ask all questions, and delete everything, even if the user interrupts."""
    found = Verified(where.recorder.kept)
    try:
        _run(where, found, say)
    except KeyboardInterrupt:
        found.interrupted = True
        say("interrupted; deleting what was created")
        where.engine.stub.Cancel(empty_pb2.Empty())
    finally:
        with _undisturbed(say):
            found.left = clean(where, say)
    return found


def _run(where: Place, found: Verified, say: Callable[[str], None]) -> None:
    for step in (*STEPS, begin):
        found.steps[_title(step)] = _outcome(step, where, say)
    for question in QUESTIONS:
        found.answers[question.assumption] = answer(question, where)
    for step in LATER_STEPS:
        found.steps[_title(step)] = _outcome(step, where, say)


def _title(step: Callable[[Place], None]) -> str:
    return (step.__doc__ or "").partition("\n")[0].rstrip(".")


def _outcome(step: Callable[[Place], None], where: Place, say: Callable[[str], None]) -> str:
    """Run a step; return `ok`, why it failed or, in brackets, why it did not run."""
    say(_title(step))
    try:
        step(where)
    except Skipped as reason:
        return f"({reason})"
    except grpc.RpcError as error:
        message = failed(error).message
    except (ProviderError, AssertionError) as error:
        message = str(error)
    else:
        return "ok"
    return str(where.recorder.masked(message))


@contextlib.contextmanager
def _undisturbed(say: Callable[[str], None]) -> Iterator[None]:
    """Let further ^C only print something."""
    before = signal.signal(signal.SIGINT, lambda *_: say("still deleting; please wait"))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """State the costs, ask for consent, verify, and write the report.

    Returns 0 if Google matches gcpx's assumptions, 1 if not, 2 without the user's consent, 130 after an interruption.
    """
    parser = argparse.ArgumentParser(prog="verify_google", description=__doc__)
    parser.add_argument("--project", required=True, help="the ID of a project for tests")
    parser.add_argument("--zone", default="us-east1-b", help="where instances are created")
    parser.add_argument("--out", type=Path, default=Path("build/verify-google"), help="the folder of the report")
    given = parser.parse_args()
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    host = os.environ.pop("GCPX_EMULATOR_HOST", "")
    print(_COSTS.format(project=given.project))
    if host:
        print(f"The emulator at {host} stands in for Google.\n")
    try:
        agreed = input("Type the ID of the project to go on: ").strip() == given.project
    except (EOFError, KeyboardInterrupt):
        agreed = False
    if not agreed:
        print("Nothing was created.")
        return 2

    def say(words: str) -> None:
        print(f"  {words}", flush=True)

    common = {"user": os.environ.get("OSLOGIN_USER", ""), "id_token": os.environ.get("ID_TOKEN", "")}
    with place(given.project, given.zone, **common, host=host) as google:
        theirs = _verified(google, say)
    if theirs.interrupted:
        print(*(f"LEFT: {line}" for line in theirs.left), sep="\n")
        print("Nothing is left." if not theirs.left else "Delete what is left by hand.")
        return 130
    print("The same with the emulator:")
    with background.running() as emulator, place(given.project, given.zone, **common, host=emulator.host) as other:
        ours = _verified(other, lambda _: None)
    text, is_same = report(theirs, ours)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "report.md").write_text(text)
    (given.out / "exchanges.json").write_text(json.dumps([attrs.asdict(item) for item in theirs.exchanges], indent=1))
    print(text)
    print(f"The report is in {given.out}/report.md, and every exchange without secrets in {given.out}/exchanges.json.")
    return 0 if is_same else 1


sys.exit(main())
