"""The package's metadata for Pulumi's registry and package managers, and the addresses of its repository."""

from __future__ import annotations

import re
from typing import Any, Final

REPOSITORY: Final = ""
"""OWNER/NAME of the public repository on GitHub, the only place where it is written; empty until there is one."""
PACKAGE: Final[dict[str, Any]] = {
    "name": "gcpx",
    "displayName": "Google Cloud Extras",
    "description": "Fleets of instances, instance templates, machine images, attachments of disks, bucket "
    "notifications, and SSH keys for OS Login in Google Cloud.",
    "keywords": ["pulumi", "gcp", "google cloud", "compute engine", "category/cloud", "kind/native"],
    "license": "Apache-2.0",
    "publisher": "gcpx",
}
LOGO: Final = "docs/logo.svg"
_GITHUB: Final = "github://api.github.com/"


def addresses(version: str, download_url: str = "", repository: str = REPOSITORY) -> dict[str, str]:
    """Return the addresses in a schema.

    Args:
        version: the version of the package.
        download_url: the URL of the plugin's download. Default: the releases of the repository.
        repository: OWNER/NAME on GitHub. Default: the one in `download_url`, if that is a repository's.
    """
    found = re.fullmatch(rf"{_GITHUB}([\w.-]+/[\w.-]+)", download_url)
    slug = repository or (found[1] if found else "")
    url = download_url or (f"{_GITHUB}{slug}" if slug else "")
    return {**({"pluginDownloadURL": url} if url else {}), **(_of_repository(slug, version) if slug else {})}


def _of_repository(slug: str, version: str) -> dict[str, str]:
    home = f"https://github.com/{slug}"
    # The tag, not a branch: the logo of a version stays where its schema says.
    logo = f"https://raw.githubusercontent.com/{slug}/v{version}/{LOGO}"
    return {"homepage": home, "repository": home, "logoUrl": logo}
