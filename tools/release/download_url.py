"""The URL from which SDKs and the CLI download the plugin."""

from __future__ import annotations

import re
from typing import Final

_HOST: Final = r"[\w-]+(?:\.[\w-]+)*(?::\d+)?"
_PATH: Final = r"(?:/(?:[\w.~-]|%[0-9A-Fa-f]{2}|\$\{(?:NAME|VERSION|OS|ARCH)\})+)*"
_FORMS: Final = (
    rf"https://{_HOST}{_PATH}",
    rf"http://(?:127\.0\.0\.1|localhost)(?::\d+)?{_PATH}",
    rf"github://{_HOST}/[\w.-]+/[\w.-]+",
)


class InvalidDownloadUrlError(Exception):
    """The engine would not download the plugin from a URL, or not safely."""


def checked(url: str) -> str:
    """Return a URL without a slash at its end; an empty one is allowed, and means no download.

    Raises:
        InvalidDownloadUrlError: the engine does not accept the form of the URL; the message has the accepted ones.
    """
    plain, shown = url.rstrip("/"), _without_secrets(url)
    if url and not any(re.fullmatch(form, plain, re.ASCII) for form in _FORMS):
        raise InvalidDownloadUrlError(
            f"DOWNLOAD_URL={shown} is not a URL that plugins are downloaded from. Write https://HOST/PATH for a folder "
            "that contains the archives (the engine replaces ${VERSION}, ${OS} and ${ARCH} in it), "
            "or github://api.github.com/OWNER/REPOSITORY for the releases of a GitHub repository. "
            "Plain http is for this machine only."
        )
    return plain


def _without_secrets(url: str) -> str:
    """Return a URL without user name, password, query and fragment, which may all be secret."""
    without_user = re.sub(r"^(\w*:?//)?.*@", r"\1[secret]@", url, flags=re.DOTALL)
    return re.sub(r"([?#]).*", r"\1[secret]", without_user, flags=re.DOTALL)
