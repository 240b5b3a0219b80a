"""What the site is built from, and what keeps it from being built."""

from __future__ import annotations

import shutil

import pytest
from documentation import markdown, navigation
from documentation.sources import BrokenPages, Sources, copy_images
from workspace import ROOT


@pytest.fixture
def checkout(tmp_path):
    """A checkout whose documents can be changed; everything else is that of the repository."""
    root = tmp_path / "checkout"
    root.mkdir()
    for path in ROOT.iterdir():
        if path.suffix == ".md":
            shutil.copy(path, root)
        elif path.name == "docs":
            shutil.copytree(path, root / "docs")
        else:
            (root / path.name).symlink_to(path)
    return root


def written(root, folder):
    Sources(folder, root).write()
    return folder


def refusal(root, folder):
    with pytest.raises(BrokenPages) as error:
        written(root, folder)
    return str(error.value)


def append(path, text):
    path.write_text(path.read_text() + text)


def test_links_lead_to_pages_of_the_site(checkout, tmp_path):
    append(checkout / "docs" / "settings.md", "\n[a](../README.md#try-it) [b](fleets.md#limits) `[c](nowhere.md)`\n")
    pages = written(checkout, tmp_path / "pages")

    assert "[a](../index.md#try-it) [b](fleets.md#limits) `[c](nowhere.md)`" in (pages / "docs/settings.md").read_text()
    assert all((pages / page).exists() for page in navigation.pages() if page != navigation.START)
    assert "{toctree}\n:caption: Guides\n:hidden:\n\n/docs/fleets.md\n" in (pages / "index.md").read_text()


def test_linked_files_and_folders_have_pages_that_no_search_finds(checkout, tmp_path):
    append(
        checkout / "ARCHITECTURE.md",
        "\n[a](examples/ssh-key) [b](schema.json) [c](tools/pulumi) [d](examples/ssh-key/__main__.py)\n",
    )
    pages = written(checkout, tmp_path / "pages")
    small, large, program = (
        pages / "files" / name for name in ("examples/ssh-key.md", "tools/pulumi.md", "examples/ssh-key/__main__.py.md")
    )
    code = f"```python\n{(ROOT / 'examples/ssh-key/__main__.py').read_text()}```\n"

    assert (
        "[a](files/examples/ssh-key.md) [b](files/schema.json) [c](files/tools/pulumi.md) [d]("
        in (pages / "ARCHITECTURE.md").read_text()
    )
    assert f"\n\n## __main__.py\n\n{code}" in small.read_text()
    assert "\n- [setup.py](pulumi/setup.py.md)\n" in large.read_text()
    assert program.read_text() == f"---\norphan: true\nnosearch: true\n---\n\n# examples/ssh-key/__main__.py\n\n{code}"
    assert (pages / "files" / "schema.json").stat().st_size == (ROOT / "schema.json").stat().st_size


def test_every_link_that_leads_nowhere_is_named(checkout, tmp_path):
    append(checkout / "docs" / "settings.md", "\n[a](missing.md) ![b](missing.svg) [c](../../outside.md)\n")

    assert refusal(checkout, tmp_path / "pages").splitlines() == [
        "docs/settings.md: the link missing.md leads to nothing in the repository",
        "docs/settings.md: the link missing.svg leads to nothing in the repository",
        "docs/settings.md: the link ../../outside.md leads to nothing in the repository",
    ]


def test_a_page_in_no_group_and_a_group_without_its_page_are_named(checkout, tmp_path):
    (checkout / "docs" / "fleets.md").rename(checkout / "docs" / "herds.md")

    assert refusal(checkout, tmp_path / "pages").splitlines() == [
        "docs/herds.md is in no group of the navigation; add it to tools/documentation/navigation.py",
        "tools/documentation/navigation.py has docs/fleets.md, which does not exist",
    ]


def test_links_are_found_in_all_forms_and_not_in_code():
    text = '[a](b.md "B") ![c](d.svg) <img src="e.png"> <https://f.example> `[g](h)` <!-- [i](j) -->\n\n```md\n[k](l)\n```\n'

    assert markdown.links(text) == ["b.md", "d.svg", "e.png", "https://f.example"]
    with pytest.raises(ValueError, match=r"write the target of the link \[m\]: beside its text"):
        markdown.links("[m][m]\n\n[m]: n.md\n")


def test_anchors_are_those_of_github():
    text = '# One `two` & three!\n\n## [Four](x.md)_5\n\n## Same\n\n## Same\n\n<a id="own"></a>\n\n```sh\n# no heading\n```\n'

    assert markdown.anchors(text) == {"one-two--three", "four_5", "same", "same-1", "own"}


def test_images_that_html_shows_are_copied_into_the_site(checkout, tmp_path):
    (checkout / "docs" / "drawing.svg").write_text("<svg/>")
    append(checkout / "ARCHITECTURE.md", '\n<img src="docs/drawing.svg">\n')
    pages = written(checkout, tmp_path / "pages")
    copy_images(pages, tmp_path / "site")

    assert '<img src="files/docs/drawing.svg">' in (pages / "ARCHITECTURE.md").read_text()
    assert (tmp_path / "site" / "files" / "docs" / "drawing.svg").read_text() == "<svg/>"
