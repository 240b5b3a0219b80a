"""Google's public images, as a table that a person can compare with Google's pages and programs.

Families, licenses, architectures, features and sizes of Debian, CentOS, RHEL, Windows and SQL Server are those of
`daisy_workflows` in the repository GoogleCloudPlatform/compute-image-tools at GitHub, which publishes these images, in
August 2026; those of AlmaLinux and Rocky Linux are from its history. The other families are those that `gcloud compute
images list` showed in published outputs of April 2026 (Ubuntu) and November 2024. Features and licenses without a
known source are missing. The dates and numbers of builds are made up.
https://docs.cloud.google.com/compute/docs/images/os-details describes the families.

These variants are missing: BYOS, LVM, EUS, FIPS, hardened, Windows without Datacenter, and images for accelerators.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

import attrs

_TABLE: Final = """
almalinux-cloud
    almalinux-%                 | almalinux-%-v*                  | 8 9 10 | 20 | EL   | almalinux-%
    almalinux-%-arm64           | almalinux-%-arm64-v*            | 9      | 20 | ARM  | almalinux-%
centos-cloud
    centos-stream-%             | centos-stream-%-v*              | 9 10   | 20 | EL   | centos-stream-%
    centos-stream-%-arm64       | centos-stream-%-arm64-v*        | 9 10   | 20 | ARM  | centos-stream-%
cos-cloud
    cos-109-lts                 | cos-109-17800-372-38            |        | 10 | COS  | COS
    cos-113-lts                 | cos-113-18244-236-35            |        | 10 | COS  | COS
    cos-117-lts                 | cos-117-18613-75-26             |        | 10 | COS  | COS
    cos-121-lts                 | cos-121-18867-199-88            |        | 10 | COS  | COS
    cos-%                       | cos-%-125-19216-104-12          | stable beta dev | 10 | COS | COS
    cos-arm64-109-lts           | cos-arm64-109-17800-372-38      |        | 10 |      | COS
    cos-arm64-113-lts           | cos-arm64-113-18244-236-35      |        | 10 |      | COS
    cos-arm64-117-lts           | cos-arm64-117-18613-75-26       |        | 10 |      | COS
    cos-arm64-121-lts           | cos-arm64-121-18867-199-88      |        | 10 |      | COS
    cos-arm64-%                 | cos-arm64-%-125-19216-104-12    | stable beta dev | 10 | | COS
debian-cloud
    debian-12                   | debian-12-bookworm-v*           |        | 10 | DEBIAN_12 | debian-12-bookworm
    debian-12-arm64             | debian-12-bookworm-arm64-v*     |        | 10 | DEBIAN_12_ARM | debian-12-bookworm
    debian-13                   | debian-13-trixie-v*             |        | 10 | DEBIAN_13 | debian-13-trixie
    debian-13-arm64             | debian-13-trixie-arm64-v*       |        | 10 | ARM  | debian-13-trixie
fedora-coreos-cloud
    fedora-coreos-stable        | fedora-coreos-44-20261011-3-0-gcp-x86-64  | | 10 | FEDORA
    fedora-coreos-testing       | fedora-coreos-44-20261025-2-0-gcp-x86-64  | | 10 | FEDORA
    fedora-coreos-next          | fedora-coreos-44-20261025-1-0-gcp-x86-64  | | 10 | FEDORA
    fedora-coreos-stable-arm64  | fedora-coreos-44-20261011-3-0-gcp-aarch64 | | 10 |
    fedora-coreos-testing-arm64 | fedora-coreos-44-20261025-2-0-gcp-aarch64 | | 10 |
    fedora-coreos-next-arm64    | fedora-coreos-44-20261025-1-0-gcp-aarch64 | | 10 |
opensuse-cloud
    opensuse-leap               | opensuse-leap-15-6-v*-x86-64    |        | 10 |
    opensuse-leap-arm64         | opensuse-leap-15-6-v*-arm64     |        | 10 |
rhel-cloud
    rhel-8                      | rhel-8-v*                       |        | 20 | EL_8 | rhel-8-server
    rhel-%                      | rhel-%-v*                       | 9 10   | 20 | EL   | rhel-%-server
    rhel-%-arm64                | rhel-%-arm64-v*                 | 8 9 10 | 20 | ARM  | rhel-%-server
rhel-sap-cloud
    rhel-8-%-sap-ha             | rhel-8-%-sap-v*                 | 8 10   | 20 | EL_8 | rhel-8-sap
    rhel-9-%-sap-ha             | rhel-9-%-sap-v*                 | 2 4 6 8 | 20 | EL  | rhel-9-sap
    rhel-10-%-sap-ha            | rhel-10-%-sap-v*                | 0 2    | 20 | EL   | rhel-10-sap
rocky-linux-cloud
    rocky-linux-%               | rocky-linux-%-v*                | 8 9 10 | 20 | EL   | rocky-linux-%
    rocky-linux-%-arm64         | rocky-linux-%-arm64-v*          | 8 9 10 | 20 | ARM  | rocky-linux-%
    rocky-linux-%-optimized-gcp | rocky-linux-%-optimized-gcp-v*  | 8 9 10 | 20 | EL   | rocky-linux-%-optimized-gcp
    rocky-linux-%-optimized-gcp-arm64|rocky-linux-%-optimized-gcp-arm64-v*|8 9 10|20|ARM|rocky-linux-%-optimized-gcp
suse-cloud
    sles-12                     | sles-12-sp5-v*-x86-64           |        | 10 |      | sles-12
    sles-15                     | sles-15-sp7-v*-x86-64           |        | 10 |      | sles-15
    sles-15-arm64               | sles-15-sp7-v*-arm64            |        | 10 |      | sles-15
suse-sap-cloud
    sles-12-sp5-sap             | sles-12-sp5-sap-v*-x86-64       |        | 10 |      | sles-sap-12
    sles-15-sp%-sap             | sles-15-sp%-sap-v*-x86-64       | 3 4 5 6 | 10 |     | sles-sap-15
ubuntu-os-cloud
    ubuntu-2204-lts             | ubuntu-2204-jammy-v*            |        | 10 | UBUNTU | ubuntu-2204-lts
    ubuntu-2204-lts-arm64       | ubuntu-2204-jammy-arm64-v*      |        | 10 |      | ubuntu-2204-lts
    ubuntu-2404-lts-%           | ubuntu-2404-noble-%-v*          | amd64 arm64 | 10 | | ubuntu-2404-lts
    ubuntu-2604-lts-%           | ubuntu-2604-resolute-%-v*       | amd64 arm64 | 10 |
    ubuntu-minimal-2204-lts     | ubuntu-minimal-2204-jammy-v*    |        | 10 |
    ubuntu-minimal-2204-lts-arm64 | ubuntu-minimal-2204-jammy-arm64-v* |   | 10 |
    ubuntu-minimal-2404-lts-%   | ubuntu-minimal-2404-noble-%-v*  | amd64 arm64 | 10 | | ubuntu-minimal-2404-lts
    ubuntu-minimal-2604-lts-%   | ubuntu-minimal-2604-resolute-%-v* | amd64 arm64 | 10 |
ubuntu-os-pro-cloud
    ubuntu-pro-1604-lts         | ubuntu-pro-1604-xenial-v*       |        | 10 |
    ubuntu-pro-1804-lts         | ubuntu-pro-1804-bionic-v*       |        | 10 |
    ubuntu-pro-1804-lts-arm64   | ubuntu-pro-1804-bionic-arm64-v* |        | 10 |
    ubuntu-pro-2004-lts         | ubuntu-pro-2004-focal-v*        |        | 10 |
    ubuntu-pro-2004-lts-arm64   | ubuntu-pro-2004-focal-arm64-v*  |        | 10 |
    ubuntu-pro-2204-lts         | ubuntu-pro-2204-jammy-v*        |        | 10 |      | ubuntu-pro-2204-lts
    ubuntu-pro-2204-lts-arm64   | ubuntu-pro-2204-jammy-arm64-v*  |        | 10 |      | ubuntu-pro-2204-lts
    ubuntu-pro-2404-lts-%       | ubuntu-pro-2404-noble-%-v*      | amd64 arm64 | 10 |
    ubuntu-pro-2604-lts-%       | ubuntu-pro-2604-resolute-%-v*   | amd64 arm64 | 10 |
windows-cloud
    windows-%                   | windows-server-%-dc-v* | 2016 2019 2022 2025 | 50 | WINDOWS | windows-server-%-dc
    windows-%-core              | windows-server-%-dc-core-v*     | 2016 2019 | 32 | WINDOWS | windows-server-%-dc CORE
    windows-2022-core           | windows-server-2022-dc-core-v*  |        | 40 | WINDOWS | windows-server-2022-dc CORE
    windows-2025-core           | windows-server-2025-dc-core-v*  |        | 50 | WINDOWS | windows-server-2025-dc CORE
windows-sql-cloud
    sql-ent-2017-win-%          | sql-2017-enterprise-windows-%-dc-v* | 2016 2019 2022 2025 | 50 | WINDOWS | SQL
    sql-std-2017-win-%          | sql-2017-standard-windows-%-dc-v* | 2016 2019 2022 2025 | 50 | WINDOWS | SQL
    sql-web-2017-win-%          | sql-2017-web-windows-%-dc-v*    | 2016 2019 2022 2025 | 50 | WINDOWS | SQL
    sql-exp-2017-win-%          | sql-2017-express-windows-%-dc-v* | 2016 2019 | 50 | WINDOWS | SQL
    sql-ent-2019-win-%          | sql-2019-enterprise-windows-%-dc-v* | 2019 2022 2025 | 50 | WINDOWS | SQL
    sql-std-2019-win-%          | sql-2019-standard-windows-%-dc-v* | 2019 2022 2025 | 50 | WINDOWS | SQL
    sql-web-2019-win-%          | sql-2019-web-windows-%-dc-v*    | 2019 2022 2025 | 50 | WINDOWS | SQL
    sql-ent-2022-win-%          | sql-2022-enterprise-windows-%-dc-v* | 2019 2022 2025 | 50 | WINDOWS | SQL
    sql-std-2022-win-%          | sql-2022-standard-windows-%-dc-v* | 2019 2022 2025 | 50 | WINDOWS | SQL
    sql-web-2022-win-%          | sql-2022-web-windows-%-dc-v*    | 2019 2022 2025 | 50 | WINDOWS | SQL
    sql-exp-2022-win-%          | sql-2022-express-windows-%-dc-v* | 2022 2025 | 50 | WINDOWS | SQL
    sql-ent-2025-win-%          | sql-2025-enterprise-windows-%-dc-v* | 2019 2022 2025 | 50 | WINDOWS | SQL
    sql-std-2025-win-%          | sql-2025-standard-windows-%-dc-v* | 2019 2022 2025 | 50 | WINDOWS | SQL
"""
"""Below each project: family | image | versions | GB | features | licenses.

Each version replaces `%` in turn; `*` is the date of a build. A license without a project is of the project itself, and
SQL is the licenses of an edition of SQL Server and of its Windows Server.
"""
_FEATURES: Final = {
    "": "",
    "ARM": "UEFI_COMPATIBLE GVNIC IDPF",
    "COS": "GVNIC SEV_CAPABLE SEV_LIVE_MIGRATABLE SEV_LIVE_MIGRATABLE_V2 SEV_SNP_CAPABLE UEFI_COMPATIBLE "
    "VIRTIO_SCSI_MULTIQUEUE",
    "DEBIAN_12": "UEFI_COMPATIBLE VIRTIO_SCSI_MULTIQUEUE GVNIC SEV_CAPABLE SEV_LIVE_MIGRATABLE_V2",
    "DEBIAN_12_ARM": "UEFI_COMPATIBLE GVNIC",
    "DEBIAN_13": "UEFI_COMPATIBLE VIRTIO_SCSI_MULTIQUEUE GVNIC SEV_CAPABLE SEV_SNP_CAPABLE SEV_LIVE_MIGRATABLE_V2 IDPF",
    "EL": "UEFI_COMPATIBLE VIRTIO_SCSI_MULTIQUEUE SEV_CAPABLE SEV_SNP_CAPABLE SEV_LIVE_MIGRATABLE "
    "SEV_LIVE_MIGRATABLE_V2 GVNIC IDPF TDX_CAPABLE",
    "EL_8": "UEFI_COMPATIBLE VIRTIO_SCSI_MULTIQUEUE SEV_CAPABLE SEV_SNP_CAPABLE SEV_LIVE_MIGRATABLE "
    "SEV_LIVE_MIGRATABLE_V2 GVNIC IDPF",
    "FEDORA": "SECURE_BOOT VIRTIO_SCSI_MULTIQUEUE UEFI_COMPATIBLE",
    "UBUNTU": "VIRTIO_SCSI_MULTIQUEUE SEV_CAPABLE SEV_SNP_CAPABLE SEV_LIVE_MIGRATABLE UEFI_COMPATIBLE GVNIC",
    "WINDOWS": "MULTI_IP_SUBNET UEFI_COMPATIBLE VIRTIO_SCSI_MULTIQUEUE GVNIC WINDOWS",
}
_LICENSES: Final = {
    "CORE": ("windows-cloud/windows-server-core",),
    "COS": ("cos-cloud-shielded/shielded-cos", "cos-cloud/cos", "cos-cloud/cos-pcid"),
}
_BUILT, _BUILT_BEFORE = "20261014", "20260915"
"""The dates of the newest build of each image, and of the one before it, which is deprecated."""
_OLD: Final = {
    "debian-cloud": {
        "debian-10-buster-v20240612": "OBSOLETE",
        "debian-11-bullseye-v20251009": "DEPRECATED",
        "debian-9-stretch-v20220621": "DELETED",
    }
}
"""The states of images that belong to no family, by project."""
_REPLACEMENT: Final = f"debian-12-bookworm-v{_BUILT}"
"""The image that deprecated images name as their replacement."""


@attrs.frozen
class PublicImage:
    """A public image.

    Attributes:
        family: empty if the image belongs to none.
        size: the size of its disk, in GB.
        licenses: each with its project, such as `rhel-cloud/rhel-9-server`.
        built: the date in its name; empty if there is none.
        state: such as `DEPRECATED`; empty if it may be used.
        replacement: the image to use instead, if it should not be used any more.
    """

    project: str
    name: str
    family: str = ""
    size: int = 10
    features: tuple[str, ...] = ()
    licenses: tuple[str, ...] = ()
    built: str = ""
    state: str = ""
    replacement: str = ""

    @property
    def architecture(self) -> str:
        """The architecture, read from the name."""
        return "ARM64" if "arm64" in self.name or "aarch64" in self.name else "X86_64"


def public_images(project: str) -> Mapping[str, PublicImage]:
    """Return the public images of a project, by name."""
    return _all_images().get(project, {})


def newest_public_image(project: str, family: str) -> PublicImage | None:
    """Return the newest image of a public family, if the project has the family."""
    return _newest().get((project, family))


def added_public_image(project: str, family: str) -> PublicImage:
    """Return the image of a public family that was added, such as one that Google has retired."""
    return PublicImage(project, f"{family}-v{_BUILT}", family, built=_BUILT)


def public_families() -> list[tuple[str, str]]:
    """List the public families, each with its project."""
    return list(_newest())


@functools.lru_cache(maxsize=1024)
def project_of_family(family: str) -> str | None:
    """Name the project that has a public family."""
    return next((project for project, known in _newest() if known == family), None)


@functools.cache
def _newest() -> Mapping[tuple[str, str], PublicImage]:
    return {
        (project, image.family): image
        for project, images in _all_images().items()
        for image in images.values()
        if image.family and not image.state
    }


@functools.cache
def _all_images() -> Mapping[str, Mapping[str, PublicImage]]:
    """Read the table: all public images, by project and name."""
    images: dict[str, dict[str, PublicImage]] = {}
    project = ""
    for line in _TABLE.strip().splitlines():
        if line.startswith(" "):
            for image in _images_of(project, [cell.strip() for cell in line.split("|")]):
                images[project][image.name] = image
        else:
            project = line
            images[project] = {
                name: PublicImage(project, name, built=name[-8:], state=state, replacement=_REPLACEMENT)
                for name, state in _OLD.get(project, {}).items()
            }
    return images


def _images_of(project: str, cells: list[str]) -> list[PublicImage]:
    """Return the images of a line of the table."""
    family, image, versions, size, *rest = cells
    features, licenses = [*rest, "", ""][:2]
    found = []
    for version in versions.split() or [""]:
        newest = PublicImage(
            project,
            image.replace("%", version).replace("*", _BUILT),
            family.replace("%", version),
            int(size),
            tuple(_FEATURES[features].split()),
            _licenses(project, image, licenses, version),
            _BUILT if "*" in image else "",
        )
        found.append(newest)
        if newest.built:
            name = newest.name.replace(_BUILT, _BUILT_BEFORE)
            found.append(
                attrs.evolve(newest, name=name, built=_BUILT_BEFORE, state="DEPRECATED", replacement=newest.name)
            )
    return found


def _licenses(project: str, image: str, licenses: str, version: str) -> tuple[str, ...]:
    if licenses == "SQL":
        _, year, edition, *_ = image.split("-")
        return (f"windows-sql-cloud/sql-server-{year}-{edition}", f"windows-cloud/windows-server-{version}-dc")
    found: list[str] = []
    for license_ in licenses.split():
        found += _LICENSES.get(license_) or (f"{project}/{license_.replace('%', version)}",)
    return tuple(found)
