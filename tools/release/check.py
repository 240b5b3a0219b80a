"""Check a release without the network: `python -m release.check FOLDER [DOWNLOAD_URL [TAG]]`.

It builds the release into the folder, and lists everything that prevents its publication, each with the next step.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from generate import documents, package_schema, sdk
from workspace import ROOT

from gcpx import __version__
from release import archive_check, dist, files, plugin_archive
from release.archive_licenses import MissingLicenseError
from release.download_url import InvalidDownloadUrlError, checked
from release.files import Problem


def problems(folder: Path, download_url: str, tag: str) -> Iterator[Problem]:
    """Return everything that prevents a release of this checkout."""
    yield from files.problems(ROOT, tag)
    outdated = documents.outdated() or list(sdk.outdated())
    if outdated:
        yield Problem(f"out of date: {', '.join(outdated)}", "run `make sdk` and commit the result")
    try:
        dist.dist(folder, download_url)
    except (InvalidDownloadUrlError, MissingLicenseError) as error:
        yield Problem(
            f"the release cannot be built: {str(error).rstrip('.')}", "correct this and run `make release-check` again"
        )
    except subprocess.CalledProcessError as error:
        yield Problem(
            f"the release cannot be built: `{' '.join(map(str, error.cmd[:4]))} ...` failed",
            "read the tool's message above, and run `make dist` to repeat it",
        )
    else:
        schema = package_schema.text(checked(download_url))
        for found in archive_check.problems(plugin_archive.path_in(folder), schema):
            yield Problem(found, "see `tools/release/frozen_plugin.py` for what is packed, and run `make dist` again")


def main(arguments: list[str]) -> None:
    """Exit with an error that lists the problems, or say that there are none."""
    folder, download_url, tag = (*arguments, "", "")[:3]
    found = list(problems(Path(folder), download_url, tag))
    if found:
        sys.exit(
            "\n".join([f"make release-check: {__version__} cannot be released yet", *(f"- {one}" for one in found)])
        )
    print(f"{__version__} can be released; its files are in {folder}")


if __name__ == "__main__":
    main(sys.argv[1:])
