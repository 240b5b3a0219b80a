"""The Google APIs that gcpx calls, in one table."""

from __future__ import annotations

from typing import Final

import attrs


@attrs.frozen(kw_only=True)
class Api:
    """One of Google's APIs.

    Attributes:
        name: the first label of its host name, as in `compute.googleapis.com`.
        title: its name in messages and descriptions.
        path: what its URLs have between the host and the version; empty for most APIs.
        scope: the narrowest OAuth 2.0 scope that all of our calls accept; empty for calls without credentials.
        setting: the attribute of `Settings` that replaces its base URL.
    """

    name: str
    title: str
    path: str = ""
    scope: str
    setting: str


COMPUTE: Final = Api(
    name="compute",
    title="Compute",
    path="/compute",
    scope="https://www.googleapis.com/auth/compute",
    setting="compute_custom_endpoint",
)
STORAGE: Final = Api(
    name="storage",
    title="Cloud Storage",
    path="/storage",
    scope="https://www.googleapis.com/auth/devstorage.read_write",
    setting="storage_custom_endpoint",
)
OSLOGIN: Final = Api(
    name="oslogin",
    title="OS Login",
    scope="https://www.googleapis.com/auth/compute",
    setting="os_login_custom_endpoint",
)
PUBSUB: Final = Api(
    name="pubsub", title="Pub/Sub", scope="https://www.googleapis.com/auth/pubsub", setting="pubsub_custom_endpoint"
)
OAUTH2: Final = Api(
    name="oauth2",
    title="OAuth 2.0",
    scope="",  # its token inspection is public, so no credentials are sent
    setting="oauth2_custom_endpoint",
)
