"""Names of images: the short names that users write, and the full names that Google accepts.

Google accepts `projects/PROJECT/global/images/IMAGE` and `global/images/IMAGE`, both also with `family/FAMILY` in place
of `IMAGE`. This module completes shorter names by a table of public projects, without a request, so that a name always
means the same image.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Mapping
from typing import Any, Final

import attrs

from gcpx.compute.reference import rest
from gcpx.model.fields import Failure, Rule, text
from gcpx.model.patterns import PROJECT_ID

_NAME: Final = r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?"
_FULL: Final = re.compile(
    rf"(?:https?://[^/\s]+/(?:compute/)?(?:v1|beta|alpha)/)?(?:projects/{PROJECT_ID}/)?"
    rf"global/images/(?:family/{_NAME}|{_NAME}|\d{{1,20}})"
)
_SHORT: Final = re.compile(rf"(?:(?P<project>{PROJECT_ID})/)?(?P<name>{_NAME})")
_DATED: Final = r"[-a-z0-9]*-v\d{8}"
FORMS: Final = (
    "projects/PROJECT/global/images/IMAGE or projects/PROJECT/global/images/family/FAMILY, each also without "
    "projects/PROJECT/ or as a URL, or a short name: PROJECT/NAME, family/FAMILY or NAME"
)
"""The known forms, in words: the full ones, and the short ones."""


@attrs.frozen
class PublicProject:
    """A project that publishes images.

    Attributes:
        families: a regular expression that the names of its image families match.
        images: a regular expression that the names of its images match.
    """

    project: str
    families: str
    images: str


PUBLIC_PROJECTS: Final = (
    PublicProject("almalinux-cloud", r"almalinux-\d+(-arm64)?", rf"almalinux-\d{_DATED}"),
    PublicProject("centos-cloud", r"centos-(stream-)?\d+(-arm64)?", rf"centos-{_DATED}"),
    PublicProject("cos-cloud", r"cos-(arm64-)?(stable|beta|dev|\d+-lts)", r"cos-[-a-z0-9]*\d+-\d+-\d+-\d+"),
    PublicProject("debian-cloud", r"debian-\d+(-arm64)?", rf"debian-\d{_DATED}"),
    PublicProject("fedora-cloud", r"fedora-cloud-\d+(-x86-64|-aarch64|-arm64)?", r"fedora-cloud-base-[-a-z0-9]+"),
    PublicProject("fedora-coreos-cloud", r"fedora-coreos-(stable|testing|next)(-arm64)?", r"fedora-coreos-\d+-[-a-z0-9]+"),
    PublicProject("opensuse-cloud", r"opensuse-leap(-\d+)?(-arm64)?", rf"opensuse-leap-{_DATED}(-[-a-z0-9]+)?"),
    PublicProject("rhel-sap-cloud", r"rhel-\d+(-\d+)?-sap(-ha|-apps|-byos)?", rf"rhel-\d+(-\d+)?-sap-?{_DATED}"),
    PublicProject("rhel-cloud", r"rhel-\d+(-arm64)?", r"rhel-\d+(-arm64)?-v\d{8}"),
    PublicProject("rocky-linux-cloud", r"rocky-linux-\d+(-optimized-gcp)?(-arm64)?", rf"rocky-linux-\d{_DATED}"),
    PublicProject("suse-sap-cloud", r"sles-\d+(-sp\d+)?-sap", r"sles-\d+(-sp\d+)?-sap(-[-a-z0-9]+)?-v\d{8}[-a-z0-9]*"),
    PublicProject("suse-cloud", r"sles-\d+(-sp\d+)?(-arm64)?", r"sles-\d+(-sp\d+)?-v\d{8}[-a-z0-9]*"),
    PublicProject("ubuntu-os-pro-cloud", r"ubuntu-(minimal-)?pro-([a-z]+-)*\d{4}-lts(-amd64|-arm64)?", rf"ubuntu-(minimal-)?pro-{_DATED}"),
    PublicProject("ubuntu-os-cloud", r"ubuntu-(minimal-)?\d{4}(-lts)?(-amd64|-arm64)?", rf"ubuntu-(minimal-)?\d{_DATED}"),
    PublicProject("windows-cloud", r"windows-\d{4}(-core)?", rf"windows-server-{_DATED}"),
    PublicProject("windows-sql-cloud", r"sql-(ent|exp|std|web)-\d{4}-win-\d{4}", rf"sql-\d{{4}}-{_DATED}"),
)  # fmt: skip
"""If a name matches several projects, the first one applies."""
FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    project: tuple(families.split())
    for project, families in {
        "almalinux-cloud": "almalinux-8 almalinux-9 almalinux-9-arm64 almalinux-10",
        "centos-cloud": "centos-stream-9 centos-stream-9-arm64 centos-stream-10 centos-stream-10-arm64",
        "cos-cloud": """
            cos-stable cos-beta cos-dev cos-109-lts cos-113-lts cos-117-lts cos-121-lts
            cos-arm64-stable cos-arm64-beta cos-arm64-dev cos-arm64-109-lts cos-arm64-113-lts cos-arm64-117-lts
            cos-arm64-121-lts
        """,
        "debian-cloud": "debian-12 debian-12-arm64 debian-13 debian-13-arm64",
        "fedora-coreos-cloud": """
            fedora-coreos-stable fedora-coreos-testing fedora-coreos-next
            fedora-coreos-stable-arm64 fedora-coreos-testing-arm64 fedora-coreos-next-arm64
        """,
        "opensuse-cloud": "opensuse-leap opensuse-leap-arm64",
        "rhel-cloud": """
            rhel-8 rhel-8-arm64 rhel-8-lvm rhel-8-lvm-arm64 rhel-9 rhel-9-arm64 rhel-9-lvm rhel-9-lvm-arm64
            rhel-10 rhel-10-arm64 rhel-10-lvm rhel-10-lvm-arm64
        """,
        "rhel-sap-cloud": """
            rhel-8-8-sap-ha rhel-8-10-sap-ha rhel-9-2-sap-ha rhel-9-4-sap-ha rhel-9-6-sap-ha rhel-9-8-sap-ha
            rhel-10-0-sap-ha rhel-10-2-sap-ha
        """,
        "rocky-linux-cloud": """
            rocky-linux-8 rocky-linux-8-arm64 rocky-linux-8-optimized-gcp rocky-linux-8-optimized-gcp-arm64
            rocky-linux-9 rocky-linux-9-arm64 rocky-linux-9-optimized-gcp rocky-linux-9-optimized-gcp-arm64
            rocky-linux-10 rocky-linux-10-arm64 rocky-linux-10-optimized-gcp rocky-linux-10-optimized-gcp-arm64
        """,
        "suse-cloud": "sles-12 sles-15 sles-15-arm64",
        "suse-sap-cloud": """
            sles-12-sp5-sap sles-15-sp3-sap sles-15-sp4-sap sles-15-sp5-sap sles-15-sp6-sap sles-15-sp7-sap
        """,
        "ubuntu-os-cloud": """
            ubuntu-2204-lts ubuntu-2204-lts-arm64 ubuntu-2404-lts-amd64 ubuntu-2404-lts-arm64 ubuntu-2604-lts-amd64
            ubuntu-2604-lts-arm64 ubuntu-minimal-2204-lts ubuntu-minimal-2204-lts-arm64 ubuntu-minimal-2404-lts-amd64
            ubuntu-minimal-2404-lts-arm64 ubuntu-minimal-2604-lts-amd64 ubuntu-minimal-2604-lts-arm64
        """,
        "ubuntu-os-pro-cloud": """
            ubuntu-pro-1604-lts ubuntu-pro-1804-lts ubuntu-pro-1804-lts-arm64 ubuntu-pro-2004-lts
            ubuntu-pro-2004-lts-arm64 ubuntu-pro-2204-lts ubuntu-pro-2204-lts-arm64 ubuntu-pro-2404-lts-amd64
            ubuntu-pro-2404-lts-arm64 ubuntu-pro-2604-lts-amd64 ubuntu-pro-2604-lts-arm64
            ubuntu-minimal-pro-1804-lts ubuntu-minimal-pro-1804-lts-arm64 ubuntu-minimal-pro-2004-lts
            ubuntu-minimal-pro-2004-lts-arm64 ubuntu-minimal-pro-2204-lts ubuntu-minimal-pro-2204-lts-arm64
            ubuntu-minimal-pro-2404-lts-amd64 ubuntu-minimal-pro-2404-lts-arm64 ubuntu-minimal-pro-2604-lts-amd64
            ubuntu-minimal-pro-2604-lts-arm64 ubuntu-pro-fips-1804-lts ubuntu-pro-fips-2004-lts
            ubuntu-pro-fips-updates-2204-lts ubuntu-pro-fips-updates-2204-lts-arm64
        """,
        "windows-cloud": """
            windows-2016 windows-2016-core windows-2019 windows-2019-core windows-2022 windows-2022-core windows-2025
            windows-2025-core
        """,
        "windows-sql-cloud": """
            sql-ent-2017-win-2016 sql-ent-2017-win-2019 sql-ent-2017-win-2022 sql-ent-2017-win-2025
            sql-std-2017-win-2016 sql-std-2017-win-2019 sql-std-2017-win-2022 sql-std-2017-win-2025
            sql-web-2017-win-2016 sql-web-2017-win-2019 sql-web-2017-win-2022 sql-web-2017-win-2025
            sql-exp-2017-win-2016 sql-exp-2017-win-2019
            sql-ent-2019-win-2019 sql-ent-2019-win-2022 sql-ent-2019-win-2025
            sql-std-2019-win-2019 sql-std-2019-win-2022 sql-std-2019-win-2025
            sql-web-2019-win-2019 sql-web-2019-win-2022 sql-web-2019-win-2025
            sql-ent-2022-win-2019 sql-ent-2022-win-2022 sql-ent-2022-win-2025
            sql-std-2022-win-2019 sql-std-2022-win-2022 sql-std-2022-win-2025
            sql-web-2022-win-2019 sql-web-2022-win-2022 sql-web-2022-win-2025
            sql-exp-2022-win-2022 sql-exp-2022-win-2025
            sql-ent-2025-win-2019 sql-ent-2025-win-2022 sql-ent-2025-win-2025
            sql-std-2025-win-2019 sql-std-2025-win-2022 sql-std-2025-win-2025
        """,
    }.items()
}
"""The image families that Google is known to have, by project; the families of other projects are never doubted.

Source: the workflows below `daisy_workflows/build-publish` in the repository GoogleCloudPlatform/compute-image-tools at
GitHub, of August 2026, for CentOS, Debian, RHEL, Windows and SQL Server; for the others, published outputs of `gcloud
compute images list`, of April 2026 (Ubuntu) and November 2024, and public programs of 2026. Families that Google has
retired, such as debian-11, and variants with names of their own, such as `rhel-9-6-eus`, are missing.
"""
_COLLECTIONS: Final = frozenset({"disks", "family", "global", "images", "projects", "regions", "snapshots", "zones"})
"""Words that begin an incomplete link, so they do not count as a project's ID in `PROJECT/NAME`."""


@functools.lru_cache(maxsize=1024)
def full_image_name(name: str) -> str | None:
    """Return the full name of an image or image family, as Google accepts it; None if the name has no known form.

    A full name, also as a URL, is returned unchanged.

    >>> full_image_name("debian-12"), full_image_name("web-base")
    ('projects/debian-cloud/global/images/family/debian-12', 'global/images/web-base')
    """
    if _FULL.fullmatch(name):
        return name
    if name.startswith("family/"):
        family = name.removeprefix("family/")
        return _full_family_name(family) if re.fullmatch(_NAME, family) else None
    parts = _SHORT.fullmatch(name)
    if parts is None or parts["project"] in _COLLECTIONS:
        return None
    if parts["project"]:
        return _full_name_in_project(parts["project"], parts["name"])
    return _full_name_of_bare_name(parts["name"])


def resolve(value: Any) -> Any:
    """Return the image name to show and send, for the trait `resolve` of a property.

    A value that is not a string, and a name of no known form, are returned unchanged; `image_name_form` makes the rule
    that refuses such a name.
    """
    return (full_image_name(value) or value) if isinstance(value, str) else value


def _full_family_name(family: str) -> str:
    publisher = next((public.project for public in PUBLIC_PROJECTS if re.fullmatch(public.families, family)), None)
    return f"{f'projects/{publisher}/' if publisher else ''}global/images/family/{family}"


def _full_name_of_bare_name(name: str) -> str:
    """Look for a public family of this name, then for a public image; other names are images of the user's project."""
    if any(re.fullmatch(public.families, name) for public in PUBLIC_PROJECTS):
        return _full_family_name(name)
    publisher = next((public.project for public in PUBLIC_PROJECTS if re.fullmatch(public.images, name)), None)
    return f"{f'projects/{publisher}/' if publisher else ''}global/images/{name}"


_BY_PROJECT: Final = {public.project: public for public in PUBLIC_PROJECTS}


def _full_name_in_project(project: str, name: str) -> str:
    """Treat a name in a public project as a family, unless it looks like an image; in other projects, it is an image."""
    public = _BY_PROJECT.get(project)
    is_family = public is not None and not re.fullmatch(public.images, name)
    return f"projects/{project}/global/images/{'family/' if is_family else ''}{name}"


def image_name_form(name: str) -> Rule:
    """Make the rule that the property `name` holds an image name in one of the known forms."""

    def find(values: dict[str, Any]) -> list[Failure]:
        given = text(values, name)
        return [Failure(name, f"must be {FORMS}")] if given and full_image_name(given) is None else []

    words = (
        f"must be {FORMS}; short names of public families and images are completed with their project, and "
        "other short names with the user's own project: debian-12 becomes "
        "projects/debian-cloud/global/images/family/debian-12, and web becomes global/images/web"
    )
    return Rule(f"{name} form", name, words, rest("instances", "disks[].initializeParams.sourceImage"), find)


_IN_PROJECT: Final = re.compile(
    rf"(?:https?://.*/)?projects/(?P<project>{PROJECT_ID})/global/images/(?P<family>family/)?(?P<name>{_NAME})"
)


def known_image_family(name: str) -> Rule:
    """Make the rule that warns if the property `name` seems to misspell a public image family or its project."""

    def find(values: dict[str, Any]) -> list[Failure]:
        parts = _IN_PROJECT.fullmatch(full_image_name(text(values, name)) or "")
        if parts is None or not (close := _similar_families(**parts.groupdict())):
            return []
        given = f"image {'family ' if parts['family'] else ''}{parts['name']} of {parts['project']}"
        words = f"names the {given}, which this version of gcpx does not know"
        return [Failure(name, f"{words}; did you mean {' or '.join(close)}?")]

    words = (
        "should not misspell a public image family or its project, as far as gcpx knows them: debian-cloud/debain-13 is "
        "a warning; it is sent unchanged"
    )
    source = rest("instances", "disks[].initializeParams.sourceImage")
    return Rule(f"{name} known family", name, words, source, find, warns=True)


def _similar_families(project: str, family: str | None, name: str) -> list[str]:
    """Return the one or two known families, as `PROJECT/FAMILY`, that may be meant; none if nothing is misspelt.

    `family` is None for an image. A project that contains the name of a public one, such as `my-debian-cloud`, has
    images of its own.
    """
    known = FAMILIES.get(project)
    if known is None:
        close = difflib.get_close_matches(project, FAMILIES, n=1, cutoff=0.85)
        return [f"{other}/{name}" for other in close if name in FAMILIES[other] and other not in project]
    if name in known or not family:
        return [f"{project}/{name}"] if name in known and not family else []
    elsewhere = [f"{other}/{name}" for other, families in FAMILIES.items() if name in families]
    longer = [other for other in known if other.startswith(f"{name}-")]
    releases = sorted((other for other in known if _series(other) == _series(name)), key=_numbers, reverse=True)
    if releases and not longer and _numbers(name) > _numbers(releases[0]):
        return []  # it may have been released after this version of gcpx
    close = longer or releases or difflib.get_close_matches(name, known, cutoff=0.85)
    return elsewhere or [f"{project}/{other}" for other in close[:2]]


_NUMBER: Final = re.compile(r"\d+")


def _series(family: str) -> str:
    return _NUMBER.sub("", family)


def _numbers(family: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(family)]
