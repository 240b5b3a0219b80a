"""The site that `make docs` builds."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from documentation import navigation
from documentation.built_site import problems
from workspace import ROOT

SITE = ROOT / "build" / "docs"
GOOD = '<p id="here"><a href="other.html#there">a</a><a href="https://example.com">b</a><img src="data:image/png;base64,"></p>'
BROKEN = {
    '<script src="https://example.com/a.js"></script>': "index.html loads https://example.com/a.js from another host",
    '<link rel="stylesheet" href="//example.com/a.css">': "index.html loads //example.com/a.css from another host",
}


def found_by(index, word):
    """Return the numbers of the pages that the search finds by a word."""
    found = index["terms"].get(word, [])
    return found if isinstance(found, list) else [found]


def write(folder, text, style=""):
    (folder / "index.html").write_text(text)
    (folder / "other.html").write_text('<h1 id="there">Other</h1>')
    (folder / "style.css").write_text(style)


def test_a_site_without_problems(tmp_path):
    write(tmp_path, GOOD, "a { background: url(data:image/png;base64,) }")

    assert list(problems(tmp_path)) == []


@pytest.mark.parametrize("text", BROKEN)
def test_what_a_page_loads_from_elsewhere_is_named(tmp_path, text):
    write(tmp_path, text)

    assert list(problems(tmp_path)) == [BROKEN[text]]


def test_a_style_that_loads_a_font_from_elsewhere_is_named(tmp_path):
    write(tmp_path, GOOD, "@font-face { src: url('https://example.com/a.woff2') }")

    assert list(problems(tmp_path)) == ["style.css loads https://example.com/a.woff2 from another host"]


@pytest.mark.languages
def test_the_site_has_every_page_and_can_be_searched_without_a_server():
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-m", "documentation", "build"],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    places = ["index.html" if page == navigation.START else page.replace(".md", ".html") for page in navigation.pages()]
    start = (SITE / "index.html").read_text()
    index = json.loads((SITE / "searchindex.js").read_text().removeprefix("Search.setIndex(").removesuffix(")"))

    assert (done.returncode, done.stderr) == (0, "")
    assert [place for place in places if not (SITE / place).exists()] == []
    assert [group for group in navigation.GROUPS if f">{group}</span>" not in start] == []
    assert {index["docnames"][number] for number in found_by(index, "onstop")} >= {"docs/reference/bulk-instances"}
    assert all(
        not index["docnames"][number].startswith("files/")
        for word in index["terms"]
        for number in found_by(index, word)
    )
    assert "copybutton.js" in start
