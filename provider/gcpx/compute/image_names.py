"""Names of images: the short ones that users write, and the form that Google takes.

Google's description takes `projects/P/global/images/I`, `global/images/I`, and either with `family/F` in place of `I`.
Anything shorter is resolved here, offline and by this table alone, so that a name always means the same.
"""

from __future__ import annotations

import functools
import re
from typing import Any, Final

import attrs

from gcpx.model.places import PROJECT_ID
from gcpx.model.rules import Failure, Rule, text

_NAME: Final = r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?"
_LINK: Final = re.compile(
    rf"(?:https?://[^/\s]+/(?:compute/)?(?:v1|beta|alpha)/)?(?:projects/{PROJECT_ID}/)?"
    rf"global/images/(?:family/{_NAME}|{_NAME}|\d{{1,20}})"
)
_SHORT: Final = re.compile(rf"(?:(?P<project>{PROJECT_ID})/)?(?P<name>{_NAME})")
_DATED: Final = r"[-a-z0-9]*-v\d{8}"
FORMS: Final = (
    "projects/PROJECT/global/images/IMAGE, projects/PROJECT/global/images/family/FAMILY, both also without "
    "projects/PROJECT/ or as a URL, PROJECT/NAME, family/FAMILY or NAME"
)


@attrs.frozen
class Public:
    """A project that publishes images.

    Attributes:
        families: what its families are called.
        images: what its images are called.
    """

    project: str
    families: str
    images: str


PUBLIC: Final = (
    Public("almalinux-cloud", r"almalinux-\d+(-arm64)?", rf"almalinux-\d{_DATED}"),
    Public("centos-cloud", r"centos-(stream-)?\d+(-arm64)?", rf"centos-{_DATED}"),
    Public("cos-cloud", r"cos-(arm64-)?(stable|beta|dev|\d+-lts)", r"cos-[-a-z0-9]*\d+-\d+-\d+-\d+"),
    Public("debian-cloud", r"debian-\d+(-arm64)?", rf"debian-\d{_DATED}"),
    Public("fedora-cloud", r"fedora-cloud-\d+(-x86-64|-aarch64|-arm64)?", r"fedora-cloud-base-[-a-z0-9]+"),
    Public("fedora-coreos-cloud", r"fedora-coreos-(stable|testing|next)(-arm64)?", r"fedora-coreos-\d+-[-a-z0-9]+"),
    Public("opensuse-cloud", r"opensuse-leap(-\d+)?(-arm64)?", rf"opensuse-leap-{_DATED}(-[-a-z0-9]+)?"),
    Public("rhel-sap-cloud", r"rhel-\d+(-\d+)?-sap(-ha|-apps|-byos)?", rf"rhel-\d+(-\d+)?-sap-?{_DATED}"),
    Public("rhel-cloud", r"rhel-\d+(-arm64)?", r"rhel-\d+(-arm64)?-v\d{8}"),
    Public("rocky-linux-cloud", r"rocky-linux-\d+(-optimized-gcp)?(-arm64)?", rf"rocky-linux-\d{_DATED}"),
    Public("suse-sap-cloud", r"sles-\d+(-sp\d+)?-sap", r"sles-\d+(-sp\d+)?-sap(-[-a-z0-9]+)?-v\d{8}[-a-z0-9]*"),
    Public("suse-cloud", r"sles-\d+(-sp\d+)?(-arm64)?", r"sles-\d+(-sp\d+)?-v\d{8}[-a-z0-9]*"),
    Public("ubuntu-os-pro-cloud", r"ubuntu-(minimal-)?pro-([a-z]+-)*\d{4}-lts(-amd64|-arm64)?", rf"ubuntu-(minimal-)?pro-{_DATED}"),
    Public("ubuntu-os-cloud", r"ubuntu-(minimal-)?\d{4}(-lts)?(-amd64|-arm64)?", rf"ubuntu-(minimal-)?\d{_DATED}"),
    Public("windows-cloud", r"windows-\d{4}(-core)?", rf"windows-server-{_DATED}"),
    Public("windows-sql-cloud", r"sql-(ent|exp|std|web)-\d{4}-win-\d{4}", rf"sql-\d{{4}}-{_DATED}"),
)  # fmt: skip
"""The projects of public images, by what they call their families and images; the first that fits counts."""
_BY_PROJECT: Final = {public.project: public for public in PUBLIC}
_COLLECTIONS: Final = frozenset({"disks", "family", "global", "images", "projects", "regions", "snapshots", "zones"})
"""Words that begin a link which is not whole; they are taken for no project."""


@functools.lru_cache(maxsize=1024)
def link_of(given: str) -> str | None:
    """Write the name of an image as Google takes it; None where it is in no known form.

    >>> link_of("debian-12"), link_of("web-base")
    ('projects/debian-cloud/global/images/family/debian-12', 'global/images/web-base')
    """
    if _LINK.fullmatch(given):
        return given
    if given.startswith("family/"):
        family = given.removeprefix("family/")
        return _family(family) if re.fullmatch(_NAME, family) else None
    found = _SHORT.fullmatch(given)
    if found is None or found["project"] in _COLLECTIONS:
        return None
    return _of_project(found["project"], found["name"]) if found["project"] else _alone(found["name"])


def resolved(given: Any) -> Any:
    """Give the image name to send; a name of unknown form is kept, and a rule refuses it."""
    return (link_of(given) or given) if isinstance(given, str) else given


def _family(family: str) -> str:
    publisher = next((item.project for item in PUBLIC if re.fullmatch(item.families, family)), None)
    return f"{f'projects/{publisher}/' if publisher else ''}global/images/family/{family}"


def _alone(name: str) -> str:
    """Find the publisher of a bare name, a family's first; any other name is that of an image of one's own."""
    if any(re.fullmatch(item.families, name) for item in PUBLIC):
        return _family(name)
    publisher = next((item.project for item in PUBLIC if re.fullmatch(item.images, name)), None)
    return f"{f'projects/{publisher}/' if publisher else ''}global/images/{name}"


def _of_project(project: str, name: str) -> str:
    """Tell a publisher's images from its families; in any other project a name is that of an image."""
    publisher = _BY_PROJECT.get(project)
    family = publisher is not None and not re.fullmatch(publisher.images, name)
    return f"projects/{project}/global/images/{'family/' if family else ''}{name}"


def image_is_named(name: str) -> Rule:
    """Refuse what names no image in any form; the words say what short forms become."""

    def find(values: dict[str, Any]) -> list[Failure]:
        given = text(values, name)
        return [(name, f"must be {FORMS}")] if given and link_of(given) is None else []

    words = (
        f"{name} is {FORMS}; the last three are resolved by the names of public families and images: debian-12 and "
        "family/debian-12 become projects/debian-cloud/global/images/family/debian-12; other families and images are "
        "the project's own, such as global/images/NAME"
    )
    return Rule(f"{name} form", words, "compute 2.2, and the API's description", find)
