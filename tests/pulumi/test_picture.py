"""The README's picture shows what the program above it does."""

from __future__ import annotations

import pytest
from picture.cells import Style, line_of, text_of
from picture.drawing import Picture, draw, text_lines
from picture.recording import record
from picture.terminal import Terminal
from picture.timeless import without_times
from workspace import ROOT

pytestmark = pytest.mark.languages
PICTURE = ROOT / "docs" / "images" / "up.svg"


@pytest.mark.pulumi
def test_a_new_recording_has_the_lines_of_the_picture():
    lines = [text_of(line) for line in record().lines]

    assert text_lines(PICTURE.read_text()) == [line for line in lines if line], "renew the picture: make picture"
    assert "    what this update does: 20 members are replaced: web-0001, web-0002, web-0003 and 17 more" in lines
    assert "    ~ 1 updated" in lines


def test_the_picture_is_small_and_needs_nothing_from_elsewhere():
    text = PICTURE.read_text()

    assert len(text) < 60_000
    assert text.replace("http://www.w3.org/2000/svg", "").count("//") == 0
    assert not any(word in text for word in ("@import", "@font-face", "<image", "<script", "href"))
    assert "<title " in text
    assert "<desc " in text


def test_columns_and_styles_survive_the_drawing():
    line = (*line_of("  a"), *line_of("  b & c", Style(2, bold=True)), *line_of("   "))
    document = draw(Picture("<up>", "words", (line, line_of(""), line_of("d"))))

    assert text_lines(document) == ["  a  b & c", "d"]
    assert '<tspan class="c2 bold" x="62.0" textLength="42.0">b &amp; c</tspan>' in document
    assert "&lt;up&gt;" in document


@pytest.mark.parametrize(
    "status", ["updating (3s).  ", "updating (12s)...", "updating (1m20s)  ", "updating  ", "updating (0.64s)  "]
)
def test_times_and_moving_dots_are_left_out(status):
    gap = " " * (len(status) - len("Status"))
    rows = [f"     Type   Name  Status{gap}  Info", f" ~   Fleet  web   {status}  more (3s)", "", "left (3s)..."]

    assert [text_of(line) for line in without_times([line_of(row) for row in rows])] == [
        "     Type   Name  Status    Info", " ~   Fleet  web   updating  more (3s)", "", "left (3s)...",
    ]  # fmt: skip


def test_the_duration_of_an_update_is_left_out():
    lines = without_times([line_of(row) for row in ("    1 unchanged", "", "Duration: 15s")])

    assert [text_of(line) for line in lines] == ["    1 unchanged"]


def test_a_command_that_ends_too_early_is_reported_with_its_screen(tmp_path):
    command = ["bash", "-c", r"printf '\033[1;38;5;1mno\033[0m plan'"]
    with Terminal.running(command, tmp_path, {}) as terminal, pytest.raises(RuntimeError, match=r"'update'.*\nno plan"):
        terminal.wait_for("update")

    assert terminal.lines() == [(*line_of("no", Style(1, bold=True)), *line_of(" plan" + " " * 153))]


def test_the_last_screen_with_a_text_is_returned(tmp_path):
    # Without echo from the start: the answer may come before `read` runs, and would be shown on the screen.
    steps = r"stty size -echo; for word in one one-more two; do printf '\r%s\033[6n' $word; read -rs -d R _; done"
    with Terminal.running(["bash", "-c", steps], tmp_path, {}) as terminal:
        found = terminal.last_with("one")

    assert [text_of(line) for line in found] == ["40 160", "one-more"]
