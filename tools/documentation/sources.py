"""The input of Sphinx: the site's pages from the repository, and pages for the files that they link to.

The repository's pages are plain Markdown. This changes links to lead to pages of the site, turns examples in several
languages into tabs, and adds the navigation.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import attrs
from workspace import ROOT

from documentation import markdown, navigation

INDEX: Final = "index.md"
_FILES: Final = "files"
"""The folder of the pages that show files of the repository."""
_LARGEST: Final = 100_000
"""A larger file, in bytes, is not shown as a page, but can be downloaded."""
_LARGEST_FOLDER: Final = 40_000
"""The files of a larger folder, in bytes, are not shown on one page."""
_LANGUAGES: Final = {
    ".go": "go",
    ".java": "java",
    ".json": "json",
    ".md": "markdown",
    ".py": "python",
    ".toml": "toml",
    ".ts": "typescript",
    ".xml": "xml",
    ".yaml": "yaml",
    ".yml": "yaml",
}
_IMAGES: Final = frozenset({".gif", ".jpg", ".png", ".svg", ".webp"})
_TABS: Final = re.compile(r"<!-- tabs -->\n(.*?)\n<!-- end of tabs -->", re.DOTALL)
_TAB: Final = re.compile(r"<details(?: open)?><summary>(.*?)</summary>\n\n(.*?)\n\n</details>", re.DOTALL)


class BrokenPages(Exception):  # noqa: N818 - it names the things that are wrong
    """The site cannot be built from some pages; the message has the reason for each."""


@attrs.define
class Sources:
    """The folder that Sphinx reads.

    Attributes:
        folder: its path; it must not exist yet.
        root: the checkout with the pages.
        files: linked files and folders of the repository that are not pages of the site.
        broken: the problems of the pages.
    """

    folder: Path
    root: Path = ROOT
    files: dict[str, None] = attrs.Factory(dict)
    broken: list[str] = attrs.Factory(list)

    def write(self) -> None:
        """Write all pages; raises `BrokenPages` with all their problems."""
        self.broken += navigation.problems(self.root)
        for page in navigation.pages() if not self.broken else ():
            self._write(self._place(page), self._page(page))
        shown: set[str] = set()
        while self.files.keys() - shown:
            for path in sorted(self.files.keys() - shown):
                shown.add(path)
                self._show(path)
        if self.broken:
            raise BrokenPages("\n".join(self.broken))

    def _page(self, page: str) -> str:
        text = with_tabs(markdown.with_links((self.root / page).read_text(), functools.partial(self._target, page)))
        if page == navigation.START:
            parts = [self._contents(pages, caption) for caption, pages in navigation.GROUPS.items()]
            return "\n".join([text, *parts])
        return "\n".join([text, self._contents(navigation.BELOW[page])]) if page in navigation.BELOW else text

    def _target(self, page: str, link: str) -> str:
        """Return the target in the site of a page's link."""
        path, _, anchor = link.partition("#")
        if ":" in link or not path:
            return link
        target = os.path.normpath(Path(page).parent / path)
        if target.startswith("..") or not (self.root / target).exists():
            self.broken.append(f"{page}: the link {link} leads to nothing in the repository")
            return link
        place = self._placed(target)
        return os.path.relpath(place, Path(self._place(page)).parent) + (f"#{anchor}" if anchor else "")

    def _placed(self, path: str) -> str:
        """Return the place of a page, or of the page that shows a file."""
        if path not in navigation.pages():
            self.files[path] = None
        return self._place(path)

    def _show(self, path: str) -> None:
        """Write the page of a file or of a folder; copy an image or a large file."""
        file, place = self.root / path, self._place(path)
        if file.is_dir():
            self._write(place, _shown(path, self._folder(path)))
        elif place.endswith(f"{path}.md"):
            self._write(place, _shown(path, _code(file)))
        else:
            (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, self.folder / place)

    def _folder(self, path: str) -> str:
        """Show all files of a folder or, if that is too much for a page, list its content."""
        names = self._tracked(path)
        if sum((self.root / path / name).stat().st_size for name in names) <= _LARGEST_FOLDER:
            return "\n\n".join(f"## {name}\n\n{_code(self.root / path / name)}" for name in names)
        entries = dict.fromkeys(name.partition("/")[0] for name in names)
        links = {name: os.path.relpath(self._placed(f"{path}/{name}"), f"{_FILES}/{path}/..") for name in entries}
        return "\n".join(f"- [{name}]({link})" for name, link in links.items())

    def _write(self, place: str, text: str) -> None:
        (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / place).write_text(text)

    def _contents(self, pages: tuple[str, ...], caption: str = "") -> str:
        """Return a part of the navigation in Sphinx's form."""
        options = [f":caption: {caption}", ":hidden:"] if caption else [":hidden:"]
        return "\n".join(["```{toctree}", *options, "", *(f"/{self._place(page)}" for page in pages), "```", ""])

    def _place(self, path: str) -> str:
        """Return the path of a repository's file in Sphinx's input folder."""
        if path in navigation.pages():
            return INDEX if path == navigation.START else path
        file = self.root / path
        is_copied = file.is_file() and (file.suffix in _IMAGES or file.stat().st_size > _LARGEST)
        return f"{_FILES}/{path}" if is_copied else f"{_FILES}/{path}.md"

    def _tracked(self, folder: str) -> list[str]:
        """List the text files of a folder that git tracks, by their relative paths."""
        command = ["git", "ls-files", folder]
        listed = subprocess.run(command, cwd=self.root, check=True, stdout=subprocess.PIPE, text=True).stdout
        names = [name.removeprefix(f"{folder}/") for name in listed.splitlines()]
        return [name for name in names if Path(name).suffix not in _IMAGES and (self.root / folder / name).exists()]


def copy_images(pages: Path, site: Path) -> None:
    """Copy images into the built site, for pages that show them with HTML, which Sphinx does not process."""
    for path in (pages / _FILES).rglob("*"):
        if path.suffix in _IMAGES:
            (site / path.relative_to(pages)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, site / path.relative_to(pages))


def with_tabs(text: str) -> str:
    """Return a page with tabs instead of the sections between `<!-- tabs -->` comments."""
    return _TABS.sub(lambda found: f"`````{{tab-set}}\n{_TAB.sub(_tab, found[1])}\n`````", text)


def _tab(section: re.Match[str]) -> str:
    name, content = section.groups()
    return f"````{{tab-item}} {name}\n:sync: {name}\n{content}\n````"


def _code(file: Path) -> str:
    """Return a file as a block of code."""
    text = file.read_text()
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`+", text))])
    return f"{fence}{_LANGUAGES.get(file.suffix, 'text')}\n{text.rstrip()}\n{fence}"


def _shown(path: str, content: str) -> str:
    """Return the page that shows a file or a folder, without navigation and not indexed for the search."""
    return f"---\norphan: true\nnosearch: true\n---\n\n# {path}\n\n{content}\n"
