"""Update the fleets of many regions, each a stack of its own, a few at a time.

    python regions.py up                    # all regions
    python regions.py up europe-west1       # some of them
    python regions.py up --failed           # only those that the last run did not finish
    python regions.py destroy --at-once 8

A region that fails leaves the others alone. ^C (or SIGTERM) cancels: the stacks that are being updated stop as soon as
their state is safe, and no further stack begins. The exit status is 0 if every region is done.
"""

import argparse
import functools
import json
import os
import re
import signal
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

from fleet import REGIONS, deploy_fleet
from pulumi import automation

PROJECT = "regions"
RESULTS = Path("results.json")
"""What the last run did, which `--failed` reads."""


@dataclass(frozen=True)
class Result:
    """What happened to the stack of a region: its outcome is done, failed, cancelled or not begun."""

    region: str
    outcome: str
    seconds: float = 0
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.region:<26}{self.outcome:<12}{self.seconds:>6.1f} s  {self.detail}"


class Run:
    """One command for several regions."""

    def __init__(self, command: str, count: int) -> None:
        self.command, self.count = command, count
        self.cancelled = threading.Event()

    def cancel(self, number: int, _frame: object) -> None:
        """Begin no further stack; pass SIGTERM on, because only ^C reaches the Pulumi CLI by itself."""
        if not self.cancelled.is_set():
            self.cancelled.set()
            print("cancelling: the stacks that are being updated end first", file=sys.stderr, flush=True)
            if number == signal.SIGTERM:
                os.killpg(0, signal.SIGINT)

    def one(self, region: str) -> Result:
        """Run the command for one region."""
        if self.cancelled.is_set():
            return Result(region, "not begun")
        began = time.monotonic()
        try:
            outcome, detail = "done", self._operate(region)
        except Exception as error:  # noqa: BLE001 - whatever it is, it concerns only this region
            outcome, detail = ("cancelled" if self.cancelled.is_set() else "failed"), first_error(str(error))
        return Result(region, outcome, round(time.monotonic() - began, 1), detail)

    def _operate(self, region: str) -> str:
        program = functools.partial(deploy_fleet, region, self.count)
        stack = automation.create_or_select_stack(region, PROJECT, program)
        done = stack.up() if self.command == "up" else stack.destroy()
        changes = done.summary.resource_changes or {}
        return ", ".join(f"{number} {change}" for change, number in sorted(changes.items()))


def first_error(text: str) -> str:
    """Return the first error of the CLI's output, without the lines around it."""
    lines = [line.strip() for line in text.splitlines()]
    errors = [line for line in lines if re.match(r"error: (?!update failed|preview failed)", line)]
    return textwrap.shorten((errors or [line for line in lines if line] or ["unknown"])[0], 150, placeholder=" ...")


def chosen(arguments: argparse.Namespace) -> list[str]:
    """Return the regions that a command is for."""
    if not arguments.failed:
        return list(arguments.regions or REGIONS)
    if not RESULTS.exists():
        sys.exit(f"regions.py: there is no {RESULTS} of an earlier run in this folder; omit --failed")
    return [result["region"] for result in json.loads(RESULTS.read_text()) if result["outcome"] != "done"]


def operate(run: Run, regions: list[str], at_once: int) -> list[Result]:
    """Run a command for regions, at most `at_once` at a time; print each result when it is there."""
    results: list[Result] = []
    with ThreadPoolExecutor(at_once) as workers:
        for future in as_completed([workers.submit(run.one, region) for region in regions]):
            results.append(future.result())
            print(results[-1], flush=True)
    return sorted(results, key=lambda result: result.region)


def parse(words: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="regions.py", description="Update the fleets of many regions.")
    parser.add_argument("command", choices=["up", "destroy"])
    parser.add_argument("regions", nargs="*", metavar="REGION", help="default: all")
    parser.add_argument("--failed", action="store_true", help="only the regions that the last run did not finish")
    parser.add_argument("--at-once", type=int, default=4, help="how many stacks at a time; default 4")
    parser.add_argument("--count", type=int, default=3, help="instances in each region; default 3")
    arguments = parser.parse_args(words)
    unknown = sorted(set(arguments.regions) - set(REGIONS))
    if unknown:
        parser.error(f"unknown region {', '.join(unknown)}; fleet.py names those that it knows")
    if arguments.at_once < 1 or arguments.count < 0:
        parser.error("--at-once must be at least 1, and --count at least 0")
    return arguments


def main(words: list[str]) -> int:
    """Run a command; return the exit status."""
    arguments = parse(words)
    run = Run(arguments.command, arguments.count)
    signal.signal(signal.SIGINT, run.cancel)
    signal.signal(signal.SIGTERM, run.cancel)
    results = operate(run, chosen(arguments), arguments.at_once)
    RESULTS.write_text(json.dumps([asdict(result) for result in results], indent=2))
    unfinished = [result for result in results if result.outcome != "done"]
    print(f"\n{len(results) - len(unfinished)} of {len(results)} regions are done")
    if unfinished:
        print("\n".join(map(str, unfinished)))
        print(f"repeat only these: python regions.py {arguments.command} --failed")
    return bool(unfinished)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
