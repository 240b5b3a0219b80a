"""Names of images: the short names that users write, and the full names that Google accepts.

Google accepts `projects/PROJECT/global/images/IMAGE` and `global/images/IMAGE`, both also with `family/FAMILY` in place
of `IMAGE`. This module completes shorter names by a table of public projects, without a request, so that a name always
means the same image.
"""

from __future__ import annotations

import functools
import re
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
