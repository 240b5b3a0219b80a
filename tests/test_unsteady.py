"""A test that fails in a run and passes alone is shown as unsteady; one that fails again makes the run fail."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import unsteady

SUPPORT = Path(unsteady.__file__).parent
ALWAYS = "def test_always():\n    print('said always')\n    assert False\n"
ONCE = """
import pathlib

def test_before():
    pass

def test_once():
    print("said once")
    seen = pathlib.Path("seen")
    if not seen.exists():
        seen.touch()
        raise AssertionError("only once")
"""
CRASH_ONCE = """
import os, pathlib

def test_crash():
    if not pathlib.Path("crashed").exists():
        pathlib.Path("crashed").touch()
        os._exit(3)
"""
IN_A_FIXTURE_ONCE = """
import pathlib, pytest

@pytest.fixture
def spoiled():
    yield
    if not pathlib.Path("ended").exists():
        pathlib.Path("ended").touch()
        raise AssertionError("only once")

@pytest.mark.parametrize("case", ["a/b [c]"])
def test_with_a_fixture(spoiled, case):
    pass
"""


def _run(folder: Path, *options: str, **files: str) -> tuple[int, str]:
    """Run the tests in files, with the plugin; return the exit code and the output."""
    (folder / "pytest.ini").write_text(f"[pytest]\npythonpath = {SUPPORT}\naddopts = -p xdist.plugin\n")
    (folder / "conftest.py").write_text('pytest_plugins = ["unsteady"]\n')
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text)
    return _pytest(folder, [sys.executable, "-m", "pytest", *options])


def _pytest(folder: Path, command: list[str]) -> tuple[int, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    # Other plugins than that of `addopts`, such as that of Hypothesis, take long to load.
    variables = {**inherited, "PYTHONHASHSEED": "5", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def _end(output: str) -> str:
    """Return what a run says after pytest's own last line."""
    return re.split(r"=+ \d+ (?:failed|passed|error).* in .* =+\n", output)[-1]


def _assert_shown_as_unsteady(folder: Path, end: str) -> None:
    """Assert that a run ends with a test that passes alone, and with its log."""
    assert "= UNSTEADY =" in end
    assert "test_once.py::test_once" in end
    (path,) = (folder / "build" / "unsteady").glob("test_once*.log")
    assert str(path.relative_to(folder)) in end
    assert "only once" in path.read_text()
    assert "said once" in path.read_text()


def test_a_test_that_passes_alone_is_shown_as_unsteady_and_the_run_passes(tmp_path):
    code, output = _run(tmp_path, "--rerun-alone", once=ONCE)
    end = _end(output)

    assert code == pytest.ExitCode.OK, output
    assert "1 test failed, and passes alone" in end
    _assert_shown_as_unsteady(tmp_path, end)

    (tmp_path / "seen").unlink()
    (command,) = re.findall(r"^  repeat: (.*@.*)", output, re.MULTILINE)
    variable, *words = shlex.split(command)
    code, repeated = _pytest(tmp_path, words)

    assert variable == "PYTHONHASHSEED=5"
    assert code == pytest.ExitCode.TESTS_FAILED
    assert "1 failed, 1 passed" in repeated, "what ran before it in its process ran again"


def test_tests_of_other_processes_run_again_also_if_the_process_ended_or_a_fixture_failed(tmp_path):
    files = {"once": ONCE, "crash": CRASH_ONCE, "fixture": IN_A_FIXTURE_ONCE}
    code, output = _run(tmp_path, "-n", "2", "--rerun-alone", **files)
    end = _end(output)

    assert code == pytest.ExitCode.OK, output
    assert "3 tests failed, and pass alone" in end
    _assert_shown_as_unsteady(tmp_path, end)


def test_a_run_that_did_not_reach_its_end_fails(tmp_path):
    assert _run(tmp_path, "-x", "--rerun-alone", once=ONCE)[0] == pytest.ExitCode.TESTS_FAILED


def test_many_failures_are_no_accident(tmp_path):
    many = "import pytest\n\n@pytest.mark.parametrize('case', range(11))\ndef test_many(case):\n    assert False\n"
    code, output = _run(tmp_path, "--rerun-alone", many=many, once=ONCE)

    assert code == pytest.ExitCode.TESTS_FAILED
    assert "12 tests failed, too many to run each again alone" in _end(output)


def test_nothing_runs_again_unless_that_is_asked_for(tmp_path):
    code, output = _run(tmp_path, once=ONCE)

    assert code == pytest.ExitCode.TESTS_FAILED
    assert "UNSTEADY" not in output


def test_a_run_without_failures_says_nothing(tmp_path):
    code, output = _run(tmp_path, "--rerun-alone", fine="def test_fine():\n    pass\n")

    assert code == pytest.ExitCode.OK
    assert not _end(output)


NEVER_AGAIN = """
import os, pathlib, pytest

def test_not_again():
    if pathlib.Path("failed {instead}").exists():
        {instead}
    pathlib.Path("failed {instead}").touch()
    assert False
"""


def test_a_test_that_fails_again_or_does_not_end_alone_makes_the_run_fail(tmp_path):
    ends = {"skips": "pytest.skip()", "is_expected_to_fail": "pytest.xfail()", "exits": "os._exit(0)"}
    files = {name: NEVER_AGAIN.format(instead=instead) for name, instead in ends.items()}
    code, output = _run(tmp_path, "--rerun-alone", once=ONCE, always=ALWAYS, **files)
    _, fails, unsteady = re.split("= FAILS AGAIN ALONE =|= UNSTEADY =", _end(output))

    assert code == pytest.ExitCode.TESTS_FAILED
    assert re.search(r"^  repeat: PYTHONHASHSEED=5 \S+ -m pytest test_always.py::test_always$", fails, re.MULTILINE)
    assert set(re.findall(r"^test_(\w+)\.py", fails, re.MULTILINE)) == {"always", *ends}
    assert re.findall(r"^test_(\w+)\.py", unsteady, re.MULTILINE) == ["once"]
    assert f"the whole run: PYTHONHASHSEED=5 {sys.executable} -m pytest --rerun-alone" in unsteady
