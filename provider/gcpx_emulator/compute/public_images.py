"""The public images, by project."""

from __future__ import annotations

from typing import Final

FAMILIES: Final = {
    "almalinux-cloud": {"almalinux-9": "almalinux-9-v20261014"},
    "centos-cloud": {"centos-stream-9": "centos-stream-9-v20261014", "centos-stream-10": "centos-stream-10-v20261014"},
    "cos-cloud": {"cos-stable": "cos-stable-125-19216-104-12"},
    "debian-cloud": {
        "debian-12": "debian-12-bookworm-v20261014",
        "debian-12-arm64": "debian-12-bookworm-arm64-v20261014",
        "debian-13": "debian-13-trixie-v20261014",
        "debian-13-arm64": "debian-13-trixie-arm64-v20261014",
    },
    "fedora-coreos-cloud": {"fedora-coreos-stable": "fedora-coreos-44-20261011-3-0-gcp-x86-64"},
    "opensuse-cloud": {"opensuse-leap": "opensuse-leap-15-6-v20261014-x86-64"},
    "rhel-cloud": {"rhel-9": "rhel-9-v20261014", "rhel-10": "rhel-10-v20261014"},
    "rocky-linux-cloud": {
        "rocky-linux-9": "rocky-linux-9-v20261014",
        "rocky-linux-9-optimized-gcp": "rocky-linux-9-optimized-gcp-v20261014",
    },
    "suse-cloud": {"sles-15": "sles-15-sp7-v20261014-x86-64"},
    "suse-sap-cloud": {"sles-15-sp6-sap": "sles-15-sp6-sap-v20261014-x86-64"},
    "ubuntu-os-cloud": {
        "ubuntu-2204-lts": "ubuntu-2204-jammy-v20261015",
        "ubuntu-2404-lts-amd64": "ubuntu-2404-noble-amd64-v20261015",
        "ubuntu-minimal-2404-lts-amd64": "ubuntu-minimal-2404-noble-amd64-v20261015",
    },
    "ubuntu-os-pro-cloud": {"ubuntu-pro-2404-lts-amd64": "ubuntu-pro-2404-noble-amd64-v20261015"},
    "windows-cloud": {"windows-2022": "windows-server-2022-dc-v20261014"},
    "windows-sql-cloud": {"sql-std-2022-win-2022": "sql-2022-standard-windows-2022-dc-v20261014"},
}
"""The newest image of each family, by project."""
DEPRECATED: Final = {
    "debian-cloud": {
        "debian-10-buster-v20240612": "OBSOLETE",
        "debian-11-bullseye-v20251009": "DEPRECATED",
        "debian-9-stretch-v20220621": "DELETED",
    }
}
"""The states of images that should no longer be used, by project; none belongs to a family."""
REPLACEMENT: Final = "debian-12-bookworm-v20261014"
"""The image that every deprecated image names as its replacement."""


def image_names(project: str) -> list[str]:
    """Name the public images of a project."""
    return [*FAMILIES.get(project, {}).values(), *DEPRECATED.get(project, ())]


def project_of_family(family: str) -> str | None:
    """Name the project that has a public family."""
    return next((project for project, families in FAMILIES.items() if family in families), None)
