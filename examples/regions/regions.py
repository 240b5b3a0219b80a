"""Update the fleets of many regions, each a stack of its own, a few at a time.

    python regions.py up                    # all regions
    python regions.py up europe-west1       # some of them
    python regions.py up --failed           # only those that the last run did not finish
    python regions.py destroy --at-once 8

A region that fails leaves the others alone. ^C, SIGTERM and SIGHUP cancel: the stacks that are being updated stop as
soon as their state is safe, and no further stack begins. The exit status is 0 if every region is done.
"""

import argparse
import functools
import json
import re
import shutil
import signal
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

from cli import Cli
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
        self.cli = Cli()

    def cancel(self, _number: int, _frame: object) -> None:
        """Begin no further stack, and let those that are being updated end; later signals change nothing."""
        if not self.cli.interrupted:
            self.cli.interrupt()
            print("cancelling: the stacks that are being updated end first", file=sys.stderr, flush=True)

    def one(self, region: str) -> Result:
        """Run the command for one region."""
        if self.cli.interrupted:
            return Result(region, "not begun")
        began = time.monotonic()
        try:
            outcome, detail = "done", self._operate(region)
        except Exception as error:  # noqa: BLE001 - whatever it is, it concerns only this region
            outcome, detail = ("cancelled" if self.cli.interrupted else "failed"), first_error(str(error))
        return Result(region, outcome, round(time.monotonic() - began, 1), detail)

    def _operate(self, region: str) -> str:
        program = functools.partial(deploy_fleet, region, self.count)
        with tempfile.TemporaryDirectory(prefix="regions-") as folder:
            options = automation.LocalWorkspaceOptions(work_dir=folder, pulumi_command=self.cli)
            stack = automation.create_or_select_stack(region, PROJECT, program, opts=options)
            done = stack.up() if self.command == "up" else stack.destroy()
        changes = done.summary.resource_changes or {}
        return ", ".join(f"{number} {change}" for change, number in sorted(changes.items()))


def first_error(text: str) -> str:
    """Return the first error of the CLI's output, without the lines around it and without passwords."""
    said = [re.sub(r"^(stdout|stderr): ?|^code: .*", "", line.strip()) for line in text.splitlines()]
    errors = [line for line in said if re.match(r"error: (?!update failed|preview failed)", line)]
    first = next(iter(errors or filter(None, said)), "unknown")
    return textwrap.shorten(without_passwords(first), 150, placeholder=" ...")


def without_passwords(text: str) -> str:
    """Mask what URLs name as a user, a password or both."""
    return re.sub(r"password=[^\s&\"]*", "password=****", re.sub(r"://[^\s\"]*@", "://****@", text))


def chosen(arguments: argparse.Namespace) -> list[str]:
    """Return the regions that a command is for."""
    if not arguments.failed:
        return list(dict.fromkeys(arguments.regions or REGIONS))
    if not RESULTS.exists():
        sys.exit(f"regions.py: there is no {RESULTS} of an earlier run in this folder; omit --failed")
    last = json.loads(RESULTS.read_text())
    if last["command"] != arguments.command:
        sys.exit(f"regions.py: the last run was `{last['command']}`; repeat that with --failed, or omit --failed")
    return [result["region"] for result in last["results"] if result["outcome"] != "done"]


def record(command: str, results: Iterable[Result]) -> None:
    """Write the results, as a whole: a reader never sees half of them."""
    draft = RESULTS.with_suffix(".draft")
    draft.write_text(json.dumps({"command": command, "results": [asdict(result) for result in results]}, indent=2))
    draft.replace(RESULTS)


def operate(run: Run, regions: list[str], at_once: int) -> list[Result]:
    """Run a command for regions, at most `at_once` at a time; record and print each result when it is there."""
    results = {region: Result(region, "not begun") for region in regions}
    record(run.command, results.values())
    with ThreadPoolExecutor(at_once) as workers:
        for future in as_completed([workers.submit(run.one, region) for region in regions]):
            result = future.result()
            results[result.region] = result
            record(run.command, results.values())
            print(result, flush=True)
    return list(results.values())


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
    if arguments.failed and arguments.regions:
        parser.error("--failed chooses the regions itself; omit it, or the regions")
    if arguments.at_once < 1 or arguments.count < 0:
        parser.error("--at-once must be at least 1, and --count at least 0")
    return arguments


def main(words: list[str]) -> int:
    """Run a command; return the exit status."""
    arguments = parse(words)
    regions = chosen(arguments)
    if not shutil.which("pulumi"):
        sys.exit("regions.py: the Pulumi CLI is missing; install it, and add its folder to PATH")
    run = Run(arguments.command, arguments.count)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # which nohup sets
            signal.signal(number, run.cancel)
    results = operate(run, regions, arguments.at_once)
    unfinished = [result for result in results if result.outcome != "done"]
    print(f"\n{len(results) - len(unfinished)} of {len(results)} regions are done")
    if unfinished:
        print("\n".join(map(str, unfinished)))
        print(f"repeat only these: python regions.py {arguments.command} --failed --count {arguments.count}")
    return bool(unfinished)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
