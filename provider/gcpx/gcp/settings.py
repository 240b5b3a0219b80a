"""The provider's settings: each is declared here once, and read as an attribute."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import attrs

from gcpx.errors import UserError
from gcpx.gcp.request import COMPUTE, OAUTH2, OSLOGIN, PUBSUB, STORAGE, Api
from gcpx.model.fields import Failure, Record, Rule, Traits, camel_case, exclusive, requirement, rule, traits_of
from gcpx.model.patterns import PROJECT, REGION, ZONE, Form, Part, form, ip_version
from gcpx.model.values import UNKNOWN
from gcpx_http.hosts import is_protected

_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "authorized_user": ("client_id", "client_secret", "refresh_token"),
    "external_account": ("audience", "subject_token_type", "token_url", "credential_source"),
    "external_account_authorized_user": ("client_id", "client_secret", "refresh_token", "token_url"),
    "impersonated_service_account": ("service_account_impersonation_url", "source_credentials"),
    "service_account": ("client_email", "private_key", "token_uri"),
}
"""The types of credentials, with the members that each must have."""
_TYPES: Final = ", ".join(_FIELDS)
_EXECUTABLES: Final = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"
_URL_ENDINGS: Final = ("url", "uri")

NOT_READABLE: Final = "must be a JSON object, or the path of a readable file that contains one"
UNKNOWN_TYPE: Final = f"must have one of the types {_TYPES}"
INCOMPLETE: Final = "must have every field of their type, as in the file that Google creates"
NOT_ENCRYPTED: Final = "must contain only URLs that begin with https://, or that lead to this machine"
EXECUTABLE: Final = f"must not run a program unless the environment variable {_EXECUTABLES} is 1"
PROBLEMS: Final = (NOT_READABLE, UNKNOWN_TYPE, INCOMPLETE, NOT_ENCRYPTED, EXECUTABLE)
"""All problems of credentials, as the requirements that they do not meet."""


def parsed(text: str) -> dict[str, Any]:
    """Read credentials that are JSON, or the path of a file with JSON; raises UserError without quoting them."""
    try:
        content = text if text.lstrip().startswith("{") else Path(text).expanduser().read_text()
        found: Any = json.loads(content)
    except (OSError, ValueError, RuntimeError, RecursionError):
        raise UserError(f"gcpx:credentials {NOT_READABLE}") from None
    if not isinstance(found, dict):
        raise UserError(f"gcpx:credentials {NOT_READABLE}")
    return found


def problem(text: str) -> str:
    """Return the problem of credentials, one of `PROBLEMS`, and the file; empty if they may be valid."""
    try:
        wrong = _problem(parsed(text))
    except UserError:
        wrong = NOT_READABLE
    return wrong and "; ".join(filter(None, (wrong, named_file(text))))


def named_file(text: str) -> str:
    """Return the file that credentials name; empty if the text may be a key, which no message may show."""
    try:
        path = Path(text).expanduser().absolute()
        is_there = path.is_file()
    except (OSError, ValueError, RuntimeError):
        return ""
    if is_there:
        return f"the file is {path.name} in {path.parent}"
    return f"there is no file {path.name} in {path.parent}" if path.suffix == ".json" else ""


def _problem(found: Mapping[str, Any]) -> str:
    if not isinstance(found.get("type"), str) or found["type"] not in _FIELDS:
        return UNKNOWN_TYPE
    if not _has_all_fields(found):
        return INCOMPLETE
    if not all(is_protected(url, metadata=True) for url in _urls(found)):
        return NOT_ENCRYPTED
    source = found.get("credential_source")
    runs = isinstance(source, dict) and "executable" in source
    return EXECUTABLE if runs and os.environ.get(_EXECUTABLES) != "1" else ""


def _has_all_fields(found: Mapping[str, Any]) -> bool:
    if not all(found.get(name) for name in _FIELDS[found["type"]]):
        return False
    key = found.get("private_key", "")
    if found["type"] == "service_account" and not (isinstance(key, str) and "PRIVATE KEY-----" in key):
        return False
    source = found.get("source_credentials")
    return source is None or (isinstance(source, dict) and _problem(source) in {"", NOT_ENCRYPTED, EXECUTABLE})


def _urls(value: Any) -> Iterator[str]:
    """Yield every address that google-auth may call."""
    for name, item in value.items() if isinstance(value, dict) else ():
        if isinstance(item, str) and name.endswith(_URL_ENDINGS):
            yield item
        yield from _urls(item)


_DURATION: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)?")
_LONGEST_TIMEOUT: Final = 86_400
_PAGE: Final = "docs/settings.md"


@requirement("requestTimeout", "must be more than 0 and at most 24h", _PAGE)
def _request_timeout_is_at_most_24_hours(values: dict[str, Any]) -> bool:
    given = values.get("requestTimeout")
    return not isinstance(given, str) or not _DURATION.fullmatch(given) or 0 < _seconds(given) <= _LONGEST_TIMEOUT


@rule("", "an IPv6 address in [] must be valid", "RFC 4291: IP Version 6 Addressing Architecture")
def _ipv6_addresses_are_valid(values: dict[str, Any]) -> list[Failure]:
    bracketed = {
        name: re.search(r"\[([0-9a-fA-F:.]+)\]", value) for name, value in values.items() if isinstance(value, str)
    }
    hosts = {name: found[1] for name, found in bracketed.items() if found and name.endswith(("Endpoint", "Host"))}
    words = "must have a valid IPv6 address in []"
    return [Failure(name, words) for name, host in hosts.items() if ip_version(host) != 6]  # noqa: PLR2004 - of IPv6


def _credentials_rule(words: str) -> Rule:
    """Check credentials as far as possible without a request."""

    def find(values: dict[str, Any]) -> list[Failure]:
        given = values.get("credentials")
        found = problem(given) if isinstance(given, str) else ""
        return [Failure("credentials", found)] if found.startswith(words) else []

    return Rule(words, "", words, _PAGE, find)


def _setting(description: str, *, default: Any = None, **traits: Any) -> Any:
    """Declare a setting; `default` is its value if it is not set, and the other keywords are attributes of `Traits`."""
    declared = Traits(description=description, **traits)
    return attrs.field(default=default, repr=not declared.secret, metadata={"traits": declared})


_HOST = Part(
    r"[A-Za-z0-9](?:[-A-Za-z0-9._]*[A-Za-z0-9.])?|\[[0-9a-fA-F:.]+\]", "a host name or address, with IPv6 in []"
)
_PORT = Part(
    r"[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]", "a port number, 1 to 65535", "[^/]*"
)
_PATH = Part(r"[!-~]*", "a path of ASCII characters", ".*")
_BASES = tuple(
    f"{scheme}://{rest}"
    for scheme in ("https", "http")
    for rest in ("HOST:PORT/PATH", "HOST:PORT", "HOST/PATH", "HOST")
)
_URL = form(*_BASES, words="a URL that begins with https:// or http://", HOST=_HOST, PORT=_PORT, PATH=_PATH)


def _custom_endpoint(api: Api) -> Any:
    """Declare the setting that replaces the base URL of an API."""
    return _setting(
        f"The base URL of the {api.title} API, with or without the API's path and version. Default: `https://{api.name}.googleapis.com`.",
        pattern=_URL,
        environment=(f"GOOGLE_{api.setting.upper()}",),
    )


_ADDRESS = form(
    *_BASES, "HOST:PORT",
    words="a host and a port, such as 127.0.0.1:8095, or their URL", HOST=_HOST, PORT=_PORT, PATH=_PATH,
)  # fmt: skip
_WORD = r"(?:(?![/?#%@])[!-~])+"
_EMAIL = Form(f"{_WORD}@{_WORD}", "the e-mail address of a service account")
_DOMAIN = Form(r"[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?", "a domain name")
_TOKEN = Form(r"[!-~]+", "one line of ASCII characters without spaces, because it is sent in an HTTP header")
_LINE = Form(r"[ -~]+", "one line of ASCII characters, because it is sent in an HTTP header")


@attrs.frozen(kw_only=True)
class Settings(Record):
    """The provider's configuration. Credentials stay in it and never become part of a resource.

    Every attribute is a setting, with the property's name in snake_case. `Settings.of` takes checked values, which are
    not checked again.
    """

    RULES = (
        exclusive("credentials", "accessToken", source=_PAGE),
        _ipv6_addresses_are_valid,
        _request_timeout_is_at_most_24_hours,
        *map(_credentials_rule, PROBLEMS),
    )

    project: str | None = _setting(
        "The ID or number of the default project, such as `my-project`, for resources and functions that set no project of their own.",
        pattern=PROJECT,
        environment=("GOOGLE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"),
    )
    region: str | None = _setting(
        "The default region, such as `europe-west1`, for resources and functions that set no region of their own.",
        pattern=REGION,
        environment=("GOOGLE_REGION", "GCLOUD_REGION", "CLOUDSDK_COMPUTE_REGION"),
    )
    zone: str | None = _setting(
        "The default zone, such as `europe-west1-b`, for resources and functions that set no zone of their own.",
        pattern=ZONE,
        environment=("GOOGLE_ZONE", "GCLOUD_ZONE", "CLOUDSDK_COMPUTE_ZONE"),
    )
    credentials: str | None = _setting(
        "The path of a credentials file, or its content as JSON: a service account key, an authorized user, an external account or an impersonated service account. Default: Application Default Credentials. Conflicts with `accessToken`.",
        secret=True,
        environment=("GOOGLE_CREDENTIALS", "GOOGLE_CLOUD_KEYFILE_JSON", "GCLOUD_KEYFILE_JSON"),
    )
    access_token: str | None = _setting(
        "An OAuth 2.0 access token, such as the output of `gcloud auth print-access-token`. It is used as is and never refreshed. Conflicts with `credentials`.",
        secret=True,
        pattern=_TOKEN,
        environment=("GOOGLE_OAUTH_ACCESS_TOKEN",),
    )
    impersonate_service_account: str | None = _setting(
        "The e-mail address of a service account to impersonate, such as `deployer@my-project.iam.gserviceaccount.com`. Default: none; calls use the credentials directly.",
        pattern=_EMAIL,
        environment=("GOOGLE_IMPERSONATE_SERVICE_ACCOUNT",),
    )
    impersonate_service_account_delegates: list[str] = _setting(  # noqa: RUF009 - it declares an attribute
        "The e-mail addresses of the service accounts in the delegation chain, from the credentials to `impersonateServiceAccount`. Each must be allowed to create tokens for the next. Default: none.",
        default=attrs.Factory(list),
    )
    scopes: list[str] = _setting(  # noqa: RUF009 - as above
        "The OAuth 2.0 scopes to request, such as `https://www.googleapis.com/auth/cloud-platform`. Default: for each API, the narrowest scope that its calls accept.",
        default=attrs.Factory(list),
    )
    billing_project: str | None = _setting(
        "The ID of the project that pays for calls and whose quota they use, such as `my-billing-project`, if `userProjectOverride` is true. Default: `project`.",
        pattern=PROJECT,
        environment=("GOOGLE_BILLING_PROJECT",),
    )
    user_project_override: bool = _setting(
        "Whether calls use the quota of `billingProject` instead of that of the credentials' own project. Default: false.",
        default=False,
        environment=("USER_PROJECT_OVERRIDE",),
    )
    request_reason: str | None = _setting(
        "A reason that Cloud Audit Logs record with every call, such as `ticket 1234`. One line of ASCII characters.",
        pattern=_LINE,
        environment=("CLOUDSDK_CORE_REQUEST_REASON",),
    )
    request_timeout: str = _setting(
        "The longest time that one HTTP request may take, such as `500ms`, `30s` or `2m`. Default: `120s`. At most `24h`.",
        default="120s",
        pattern=Form(_DURATION.pattern, "a number with the unit ms, s, m or h, such as 30s"),
    )
    universe_domain: str = _setting(
        "The domain that the host names of all APIs end in, such as `googleapis.com` in `compute.googleapis.com`. Default: `googleapis.com`.",
        default="googleapis.com",
        pattern=_DOMAIN,
        environment=("GOOGLE_CLOUD_UNIVERSE_DOMAIN",),
    )
    compute_custom_endpoint: str | None = _custom_endpoint(COMPUTE)
    storage_custom_endpoint: str | None = _custom_endpoint(STORAGE)
    os_login_custom_endpoint: str | None = _custom_endpoint(OSLOGIN)
    pubsub_custom_endpoint: str | None = _custom_endpoint(PUBSUB)
    oauth2_custom_endpoint: str | None = _custom_endpoint(OAUTH2)
    validate_online: bool = _setting(
        "Whether a preview also asks Google whether the projects, regions, zones, machine types, disks, images, snapshots, instances, networks, subnetworks, placement policies, instance templates of fleets, buckets and topics that inputs name exist, whether quotas allow a fleet, and how likely it is to get its capacity. A fleet is read before each preview and update, and the preview reads a new template to say exactly what it changes. Anything that the credentials cannot read causes a warning. Default: false.",
        default=False,
        environment=("GCPX_VALIDATE_ONLINE",),
    )
    emulator_host: str | None = _setting(
        "The host and port of a `gcpx-emulator`, such as `127.0.0.1:8095`, or its URL. All API calls go there, without credentials. Default: none; calls go to Google.",
        pattern=_ADDRESS,
        environment=("GCPX_EMULATOR_HOST",),
    )

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Settings:
        """Take checked values by property name, such as `emulatorHost`; null and unknown values count as not set."""
        given = {name: values.get(camel_case(name)) for name in traits_of(cls)}
        return cls(**{name: value for name, value in given.items() if value is not None and value is not UNKNOWN})

    @functools.cached_property
    def timeout_seconds(self) -> float:
        """`requestTimeout` in seconds."""
        return _seconds(self.request_timeout)

    @property
    def quota_project(self) -> str | None:
        """The project that pays for the calls' quota; None for the credentials' own project."""
        return (self.billing_project or self.project) if self.user_project_override else None

    @functools.cached_property
    def secrets(self) -> frozenset[str]:
        """Every string in the settings that no message may show."""
        given = (getattr(self, name) for name, traits in traits_of(Settings).items() if traits.secret)
        return frozenset(filter(None, (*given, *_secret_parts(self.credentials or ""))))


_SECONDS_PER_UNIT: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def _seconds(duration: str) -> float:
    """Return the seconds of a duration that matches its pattern; without a unit, it is in seconds."""
    found = _DURATION.fullmatch(duration)
    assert found is not None  # noqa: S101 - the configuration is checked before it is read
    return float(found[1]) * _SECONDS_PER_UNIT[found[2] or "s"]


_SECRET_PARTS: Final = ("private_key", "private_key_id", "client_secret", "refresh_token")
"""Members of a credentials file that must not be shown."""


def _secret_parts(credentials: str) -> list[str]:
    """Return the secret members of JSON credentials, so that redaction also finds one of them alone."""
    try:
        found = json.loads(credentials)
    except (ValueError, RecursionError):
        return []
    return [str(found[name]) for name in _SECRET_PARTS if found.get(name)] if isinstance(found, dict) else []


def base_url(settings: Settings, api: Api) -> str:
    """Return the base URL of an API, without the API's path: `https://compute.googleapis.com`."""
    host = settings.emulator_host
    custom: str | None = getattr(settings, api.setting)
    if host:
        return host.rstrip("/") if "://" in host else f"http://{host}"
    if custom:
        # Other providers' endpoints include the API's path and version, so both forms are accepted.
        return custom.rstrip("/").removesuffix("/v1").removesuffix("/beta").removesuffix(api.path)
    return f"https://{api.name}.{settings.universe_domain}"


def refuse_plain_http(settings: Settings, api: Api, url: str, content: str = "") -> None:
    """Raise UserError if others could read or change the traffic of an API's URL.

    Calls of an emulator may use plain http, because they have no credentials. Calls about tokens must be protected even
    then: `getTokenInfo` sends a token, and the response decides whether the token is trusted.

    Args:
        settings: the settings from which the URL follows.
        api: the API, whose `content` must be protected.
        url: the URL to call.
        content: the exchanged data in words, instead of the API's `content`.
    """
    if is_protected(url) or (settings.emulator_host and api is not OAUTH2):
        return
    setting = camel_case("emulator_host" if settings.emulator_host else api.setting)
    other = "make it lead to this machine" if api is OAUTH2 else "set gcpx:emulatorHost to call an emulator"
    raise plain_http_error(
        url, content or api.content, f"set gcpx:{setting} to a URL that begins with https://, or {other}"
    )


def plain_http_error(url: str, content: str, advice: str) -> UserError:
    """Return the error about an unencrypted URL, which gcpx does not call; `content` names the data to protect."""
    host = urlsplit(url).hostname
    return UserError(
        f"gcpx does not call {host} over plain http, because others could read or change {content}; {advice}"
    )


def public_page_url(settings: Settings, url: str) -> str:
    """Return the URL of one of Google's public pages, such as its certificates, under these settings.

    A custom endpoint of the OAuth 2.0 API, or an emulator, serves these pages, too. Raises UserError if others could
    change the responses.
    """
    if settings.emulator_host or settings.oauth2_custom_endpoint:
        found = f"{base_url(settings, OAUTH2)}/{url.split('/', 3)[3]}"
        refuse_plain_http(settings, OAUTH2, found, "the issuer's certificates")
        return found
    return url.replace("googleapis.com", settings.universe_domain)
