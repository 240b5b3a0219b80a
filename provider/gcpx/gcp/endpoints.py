"""Where APIs are called: Google's hosts, custom endpoints, or an emulator."""

from __future__ import annotations

from gcpx.gcp.apis import OAUTH2, Api
from gcpx.gcp.settings import Settings


def base_url(settings: Settings, api: Api) -> str:
    """Return the URL of an API's host, to which the API's path is appended: `https://compute.googleapis.com`."""
    host, custom = settings.emulator_host, settings.endpoint_of(api)
    if host:
        return host.rstrip("/") if "://" in host else f"http://{host}"
    if custom:
        # Other providers' settings end in the API's path and version, so both forms are accepted.
        return custom.rstrip("/").removesuffix("/v1").removesuffix("/beta").removesuffix(api.path)
    return f"https://{api.name}.{settings.universe_domain}"


def public_page_url(settings: Settings, url: str) -> str:
    """Return the URL of one of Google's public pages, such as its certificates, under these settings.

    A custom endpoint of the OAuth 2.0 API, or an emulator, serves these pages, too.
    """
    if settings.emulator_host or settings.endpoint_of(OAUTH2):
        return f"{base_url(settings, OAUTH2)}/{url.split('/', 3)[3]}"
    return url.replace("googleapis.com", settings.universe_domain)
