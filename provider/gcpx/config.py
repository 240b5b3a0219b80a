"""The provider's settings: their declaration, and how configuration and environment become one value."""

from __future__ import annotations

import ipaddress
import json
import os
import re
from collections.abc import Mapping
from typing import Any

from gcpx.errors import UserError
from gcpx.gcp.settings import Settings
from gcpx.model.check import Finding, Report, check
from gcpx.model.diff import Change, diff
from gcpx.model.fields import Record, Scalar, field, object_type, record
from gcpx.model.patterns import Part, form
from gcpx.model.places import PROJECT, REGION, ZONE
from gcpx.model.rules import Failure, exclusive, rule
from gcpx.model.values import Secret, format_path, reveal

_ENGINE_KEYS = ("version", "pluginDownloadURL")
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST_TIMEOUT = 86_400
_TRUTHS = dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True) | dict.fromkeys(
    ("0", "false", "f", "no", "n", "off"), False
)
"""Spellings of a boolean that arrives as a string, in lower case."""

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
_ADDRESS = form(
    *_BASES, "HOST:PORT", "HOST",
    words="a host and a port, such as 127.0.0.1:8095, or their URL", HOST=_HOST, PORT=_PORT, PATH=_PATH,
)  # fmt: skip
_WORD = r"(?:(?![/?#%@])[!-~])+"
_EMAIL = (re.compile(f"{_WORD}@{_WORD}"), "the e-mail address of a service account")
_DOMAIN = (re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?"), "a domain name")
_TOKEN = (re.compile(r"[!-~]+"), "one line of ASCII characters without spaces, because it is sent in an HTTP header")
_LINE = (re.compile(r"[ -~]+"), "one line of ASCII characters, because it is sent in an HTTP header")


@rule("requestTimeout is more than 0, and at most 24 hours", "gcpx itself")
def _timeout_is_finite(values: dict[str, Any]) -> list[Failure]:
    given = values.get("requestTimeout")
    if not isinstance(given, str) or not _DURATION.fullmatch(given) or 0 < _seconds(given) <= _LONGEST_TIMEOUT:
        return []
    return [("requestTimeout", "must be more than 0, and at most 24h")]


@rule("an IPv6 address in [] is valid", "RFC 4291")
def _addresses_are_valid(values: dict[str, Any]) -> list[Failure]:
    bracketed = {
        name: re.search(r"\[([0-9a-fA-F:.]+)\]", value) for name, value in values.items() if isinstance(value, str)
    }
    hosts = {name: found[1] for name, found in bracketed.items() if found and name.endswith(("Endpoint", "Host"))}
    return [(name, "must have a valid IPv6 address in []") for name, host in hosts.items() if not _is_ipv6(host)]


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


@record
class Config(Record):
    """The provider's configuration."""

    RULES = (exclusive("credentials", "accessToken"), _addresses_are_valid, _timeout_is_finite)

    project: str = field(
        "The ID of the project in which resources are created when they name no project.",
        pattern=PROJECT,
        environment=("GOOGLE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"),
    )
    region: str = field(
        "The default region, such as `europe-west1`.",
        pattern=REGION,
        environment=("GOOGLE_REGION", "GCLOUD_REGION", "CLOUDSDK_COMPUTE_REGION"),
    )
    zone: str = field(
        "The default zone, such as `europe-west1-b`.",
        pattern=ZONE,
        environment=("GOOGLE_ZONE", "GCLOUD_ZONE", "CLOUDSDK_COMPUTE_ZONE"),
    )
    credentials: str = field(
        "A credentials file's path, or its JSON text: a service account key, an external account, or an authorized user. Default: Application Default Credentials.",
        secret=True,
        environment=("GOOGLE_CREDENTIALS", "GOOGLE_CLOUD_KEYFILE_JSON", "GCLOUD_KEYFILE_JSON"),
    )
    access_token: str = field(
        "An OAuth 2.0 access token, used as is and never refreshed. Conflicts with `credentials`.",
        secret=True,
        pattern=_TOKEN,
        environment=("GOOGLE_OAUTH_ACCESS_TOKEN",),
    )
    impersonate_service_account: str = field(
        "The e-mail address of a service account to act as.",
        pattern=_EMAIL,
        environment=("GOOGLE_IMPERSONATE_SERVICE_ACCOUNT",),
    )
    impersonate_service_account_delegates: list[str] = field(
        "Service accounts between the credentials and the impersonated account; each may create tokens for the next."
    )
    scopes: list[str] = field(
        "OAuth 2.0 scopes to request. Default: for each call, the narrowest scope that its API accepts."
    )
    billing_project: str = field(
        "The project that is charged for quota and billing, with `userProjectOverride`.",
        pattern=PROJECT,
        environment=("GOOGLE_BILLING_PROJECT",),
    )
    user_project_override: bool = field(
        "Charge quota to `billingProject`, or to `project` without it, instead of to the credentials' own project.",
        environment=("USER_PROJECT_OVERRIDE",),
    )
    request_reason: str = field(
        "A justification that Cloud Audit Logs record with every call.",
        pattern=_LINE,
        environment=("CLOUDSDK_CORE_REQUEST_REASON",),
    )
    request_timeout: str = field(
        "How long one HTTP request may take, such as `30s` or `2m`. Default: 120 seconds.",
        pattern=(_DURATION, "a number with the unit ms, s, m or h, such as 30s"),
    )
    universe_domain: str = field(
        "The domain of the cloud's APIs. Default: `googleapis.com`.",
        pattern=_DOMAIN,
        environment=("GOOGLE_CLOUD_UNIVERSE_DOMAIN",),
    )
    compute_custom_endpoint: str = field(
        "The base URL of the Compute API in place of `https://compute.googleapis.com`.",
        pattern=_URL,
        environment=("GOOGLE_COMPUTE_CUSTOM_ENDPOINT",),
    )
    storage_custom_endpoint: str = field(
        "The base URL of the Cloud Storage API in place of `https://storage.googleapis.com`.",
        pattern=_URL,
        environment=("GOOGLE_STORAGE_CUSTOM_ENDPOINT",),
    )
    os_login_custom_endpoint: str = field(
        "The base URL of the OS Login API in place of `https://oslogin.googleapis.com`.",
        pattern=_URL,
        environment=("GOOGLE_OS_LOGIN_CUSTOM_ENDPOINT",),
    )
    pubsub_custom_endpoint: str = field(
        "The base URL of the Pub/Sub API in place of `https://pubsub.googleapis.com`.",
        pattern=_URL,
        environment=("GOOGLE_PUBSUB_CUSTOM_ENDPOINT",),
    )
    oauth2_custom_endpoint: str = field(
        "The base URL of the OAuth 2.0 API in place of `https://oauth2.googleapis.com`.",
        pattern=_URL,
        environment=("GOOGLE_OAUTH2_CUSTOM_ENDPOINT",),
    )
    validate_online: bool = field(
        "At preview, ask Google whether the resources that inputs name exist (images, machine types, zones, networks, subnetworks, topics), and whether quotas allow a fleet. What the caller has no permission to see causes a warning. Default: false.",
        environment=("GCPX_VALIDATE_ONLINE",),
    )
    emulator_host: str = field(
        "Host and port of a `gcpx-emulator`, such as `127.0.0.1:8095`. All API calls go there, without credentials.",
        pattern=_ADDRESS,
        environment=("GCPX_EMULATOR_HOST",),
    )


KIND = object_type(Config)


def _decoded(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the engine's own keys, and read the texts that values other than strings arrive as."""
    own = {key: value for key, value in inputs.items() if key not in _ENGINE_KEYS and not key.startswith("__")}
    return {key: _parsed(key, value) for key, value in own.items()}


def _parsed(key: str, value: Any) -> Any:
    prop = KIND.properties.get(key)
    if isinstance(value, Secret):
        return Secret(_parsed(key, value.value))
    if prop is None or not isinstance(value, str):
        return value
    text = value.strip()
    if prop.type == Scalar("string"):
        return text
    if prop.type == Scalar("boolean"):
        return _TRUTHS.get(text.lower(), value)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return value


def check_config(inputs: dict[str, Any], environment: Mapping[str, str] = os.environ) -> Report:
    """Check a configuration as the engine sends it, and what the environment adds to it."""
    values = _decoded(inputs)
    report = check(KIND, values)
    for name, variable in _added(values, environment).items():
        found = check(KIND, {name: _parsed(name, environment[variable])}).failures
        report.failures.extend(_of_variable(variable, finding) for finding in found)
    return report


def _of_variable(variable: str, finding: Finding) -> Finding:
    return Finding((), f"the environment variable {variable} {finding.with_value or finding.reason}")


def diff_config(old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """Compare two configurations; nothing in them replaces a resource, since every ID carries its project."""
    return diff(KIND, _decoded(old), _decoded(new), {})


def checked_settings(args: Mapping[str, Any]) -> Settings:
    """Resolve a configuration that the engine may not have checked; raise UserError if it is invalid."""
    known = {name: value for name, value in args.items() if name in KIND.properties}
    failures = check_config(known).failures
    if failures:
        said = (f"{format_path(item.path)}: {item.reason}" if item.path else item.reason for item in failures)
        raise UserError(f"the provider configuration must be corrected: {'; '.join(said)}")
    return settings(known)


def _added(values: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, str]:
    """Find the settings that the environment gives, each with its variable."""
    found = {}
    for name, prop in KIND.properties.items():
        variable = next((key for key in prop.traits.environment if environment.get(key, "").strip()), None)
        if variable is not None and values.get(name) in (None, "") and not _overruled(name, values):
            found[name] = variable
    return found


def settings(args: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Settings:
    """Resolve a configuration: what is configured first, then the environment."""
    values = _decoded(reveal(dict(args)))
    added = _added(values, environment)
    values |= {name: _parsed(name, environment[variable]) for name, variable in added.items()}
    return Settings(
        project=values.get("project"),
        region=values.get("region"),
        zone=values.get("zone"),
        credentials=values.get("credentials"),
        access_token=values.get("accessToken"),
        impersonate=values.get("impersonateServiceAccount"),
        delegates=tuple(values.get("impersonateServiceAccountDelegates") or ()),
        scopes=tuple(values.get("scopes") or ()),
        quota_project=_quota_project(values),
        request_reason=values.get("requestReason"),
        request_timeout=_seconds(values.get("requestTimeout")),
        universe_domain=values.get("universeDomain") or "googleapis.com",
        endpoints={
            "compute": values.get("computeCustomEndpoint"),
            "storage": values.get("storageCustomEndpoint"),
            "oslogin": values.get("osLoginCustomEndpoint"),
            "pubsub": values.get("pubsubCustomEndpoint"),
            "oauth2": values.get("oauth2CustomEndpoint"),
        },
        validate_online=values.get("validateOnline") is True,
        emulator_host=values.get("emulatorHost"),
    )


def _overruled(name: str, values: Mapping[str, Any]) -> bool:
    """Tell whether a credential of the environment gives way to another kind that is configured."""
    rivals = {"credentials": "accessToken", "accessToken": "credentials"}
    return bool(values.get(rivals.get(name, "")))


def _quota_project(values: Mapping[str, Any]) -> str | None:
    return (values.get("billingProject") or values.get("project")) if values.get("userProjectOverride") else None


def _seconds(text: Any) -> float:
    found = _DURATION.fullmatch(str(text)) if text else None
    return float(found[1]) * _SECONDS[found[2] or "s"] if found else 120.0
