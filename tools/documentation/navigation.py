"""The pages of the site, and their groups in its navigation."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from generate import reference_pages
from workspace import ROOT

START: Final = "README.md"
"""The first page of the site, above all groups."""
GROUPS: Final = {
    "Start": ("docs/installation.md", "docs/languages.md", "docs/settings.md", "docs/comparison.md"),
    "Guides": (
        "docs/fleets.md",
        "docs/templates.md",
        "docs/image-names.md",
        "docs/adopting.md",
        "docs/beside-pulumi-gcp.md",
        "docs/from-pulumi-gcp.md",
        "docs/push-receivers.md",
        "docs/emulator.md",
        "docs/testing.md",
    ),
    "Reference": (
        "docs/resources.md",
        "docs/permissions.md",
        "docs/importing.md",
        "provider/gcpx_emulator/README.md",
        "provider/gcpx_filter/README.md",
        "provider/gcpx_http/README.md",
        "provider/gcpx_push/README.md",
    ),
    "Operations": (
        "docs/recovering.md",
        "docs/reliability.md",
        "docs/scaling.md",
        "docs/verified.md",
        "docs/versions.md",
        "docs/benchmarks.md",
        "docs/SECURITY.md",
    ),
    "Project": (
        "CHANGELOG.md",
        "ARCHITECTURE.md",
        "docs/decisions.md",
        "docs/endpoints.md",
        "CONTRIBUTING.md",
        "docs/releasing.md",
    ),
}
"""The groups of the navigation, named by readers' aims, and their pages in order."""
BELOW: Final = {
    "docs/resources.md": tuple(reference_pages.pages()),
    "docs/emulator.md": ("docs/emulator-clients.md", "docs/emulator-coverage.md"),
    "docs/decisions.md": tuple(sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs/decisions").glob("*.md"))),
}
"""The pages that are below another page in the navigation."""
_PAGES: Final = ("*.md", "docs/**/*.md", "provider/*/README.md")
NOT_IN_THE_SITE: Final = frozenset({"docs/_index.md", "docs/installation-configuration.md"})
"""Pages for Pulumi's registry only."""


def pages() -> list[str]:
    """Return the paths of all pages of the site, from the root of the repository."""
    grouped = [page for group in GROUPS.values() for page in group]
    return [START, *(page for top in grouped for page in (top, *BELOW.get(top, ())))]


def problems(root: Path = ROOT) -> list[str]:
    """Name the pages below `root` that are in no group, and those in a group that do not exist."""
    written = {str(path.relative_to(root)) for pattern in _PAGES for path in root.glob(pattern)}
    listed = set(pages())
    forgotten = sorted(written - listed - NOT_IN_THE_SITE)
    return [
        *(
            f"{page} is in no group of the navigation; add it to tools/documentation/navigation.py"
            for page in forgotten
        ),
        *(f"tools/documentation/navigation.py has {page}, which does not exist" for page in sorted(listed - written)),
    ]
