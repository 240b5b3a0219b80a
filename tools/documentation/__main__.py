"""Build the documentation, or check its links to other sites.

`python -m documentation build` writes the site into `build/docs`; `python -m documentation links` needs the internet.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Final

from sphinx.cmd.build import build_main
from workspace import ROOT

from documentation.built_site import problems
from documentation.sources import BrokenPages, Sources, copy_images

_SITE: Final = ROOT / "build" / "docs"
_WORK: Final = ROOT / "build" / "docs-work"
_PAGES: Final = _WORK / "pages"
_USAGE: Final = "usage: python -m documentation build|links"


def run_sphinx(builder: str, destination: Path) -> None:
    """Run one of Sphinx's builders on the current pages; exit with an error if it has warnings."""
    for folder in (_WORK, destination):
        shutil.rmtree(folder, ignore_errors=True)
    try:
        Sources(_PAGES).write()
    except BrokenPages as error:
        sys.exit(f"{error}\nThe documentation was not built.")
    options = ["--quiet", "--fail-on-warning", "--builder", builder, "--doctree-dir", str(_WORK / "doctrees")]
    status = build_main([*options, "--conf-dir", str(Path(__file__).parent), str(_PAGES), str(destination)])
    if status:
        sys.exit(f"Sphinx reports the problems above. Pages are below {_PAGES.relative_to(ROOT)}/.")


def build(destination: Path = _SITE) -> None:
    """Build the site, and check its links, and that its pages load nothing from elsewhere."""
    run_sphinx("html", destination)
    copy_images(_PAGES, destination)
    found = list(problems(destination))
    if found:
        sys.exit("\n".join([*found, "The site is built, but has the problems above."]))
    print(f"The site begins at {(destination / 'index.html').relative_to(ROOT)}")


def main(arguments: list[str]) -> None:
    """Run the command that the only argument names."""
    match arguments:
        case ["build"]:
            build()
        case ["links"]:
            run_sphinx("linkcheck", _WORK / "linkcheck")
        case _:
            sys.exit(_USAGE)


if __name__ == "__main__":
    main(sys.argv[1:])
