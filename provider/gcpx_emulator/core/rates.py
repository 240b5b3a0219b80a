"""Rate quotas of groups of methods, as set at `/_emulator/rates`.

Each group has a token bucket that refills with time; a request takes a token, and is refused if there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs

from gcpx_emulator.core.controls import ControlBody, Field, is_duration, is_object, is_whole
from gcpx_emulator.core.discovery import Method
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import Operations
from gcpx_emulator.core.projects import project_number

_HELP: Final = "https://cloud.google.com/docs/quotas/help/request_increase"


@attrs.frozen
class RateQuota:
    """The quota of a group of methods.

    Attributes:
        group: its name at `/_emulator/rates`.
        title: its name in messages.
        metric: its name in the service, without the service's name.
        limit: the name of its limit.
    """

    group: str
    title: str
    metric: str
    limit: str


QuotaOf = Callable[[Method], RateQuota]
_QUOTAS: Final[dict[str, tuple[tuple[RateQuota, ...], QuotaOf]]] = {}


def declare_rate_quotas(api: str, quotas: tuple[RateQuota, ...], quota_of: QuotaOf) -> None:
    """Register the rate quotas of an API, such as `compute`, and the function that chooses a method's quota."""
    _QUOTAS[api] = quotas, quota_of


def _groups() -> list[str]:
    return [quota.group for quotas, _ in _QUOTAS.values() for quota in quotas]


def _is_rate(value: Any) -> bool:
    return is_duration(value) and value > 0


def _are_rates(value: Any) -> bool:
    return _is_rate(value) or (is_object(value) and set(value) <= set(_groups()) and all(map(_is_rate, value.values())))


@attrs.define
class _Bucket:
    """The tokens of one group at a moment, which is in seconds since 1970."""

    tokens: float
    at: float
    accepted: int = 0
    refused: int = 0

    def take(self, now: float, rate: float | None, burst: float) -> bool:
        """Take a token, if there is one; without a rate, there always is."""
        if rate is not None:
            self.tokens = min(burst, self.tokens + max(0.0, now - self.at) * rate)
            self.at = now
        accepted = rate is None or self.tokens >= 1
        self.tokens -= 1 if accepted and rate is not None else 0
        self.accepted, self.refused = self.accepted + accepted, self.refused + (not accepted)
        return accepted


@attrs.define
class Rates:
    """The rate quotas of an emulator, with the numbers of accepted and refused requests since they were set.

    Attributes:
        operations: the operations; rates use their clock.
    """

    operations: Operations
    limits: Json = attrs.Factory(dict)
    _buckets: dict[str, _Bucket] = attrs.Factory(dict)

    def set(self, raw: bytes) -> None:
        """Read the body of a request to `/_emulator/rates`; fill all buckets, and count from 0."""
        # The groups are known once all services are registered.
        rates = f"a positive number, or positive numbers by group ({', '.join(_groups())})"
        burst = Field("a whole number of at least 1", lambda value: is_whole(value, 1))
        self.limits = ControlBody("rates", {"burst": burst, "perSecond": Field(rates, _are_rates)}).read(raw)
        self._buckets = {}

    def show(self) -> Json:
        """Return the limits and the numbers of requests by group."""
        numbers = {
            name: {"accepted": bucket.accepted, "refused": bucket.refused} for name, bucket in self._buckets.items()
        }
        return self.limits | {"groups": numbers}

    def take(self, method: Method, project: str) -> None:
        """Count a request.

        Raises:
            ApiError: 403 with the reason `rateLimitExceeded`, if the quota of the method's group is used up.
        """
        if method.api not in _QUOTAS:
            return
        quota = _QUOTAS[method.api][1](method)
        per_second, now = self.limits.get("perSecond"), self.operations.clock.now()
        rate = per_second.get(quota.group) if isinstance(per_second, dict) else per_second
        burst = float(self.limits.get("burst") or max(1.0, rate or 0.0))
        bucket = self._buckets.setdefault(quota.group, _Bucket(burst, now))
        if not bucket.take(now, rate, burst):
            raise _exceeded(quota, method.api, project, rate or 0.0)


def _exceeded(quota: RateQuota, api: str, project: str, rate: float) -> ApiError:
    service, number = f"{api}.googleapis.com", project_number(project)
    message = (
        f"Quota exceeded for quota metric '{quota.title}' and limit '{quota.title} per minute' of service '{service}' "
        f"for consumer 'project_number:{number}'."
    )
    metadata = {
        "consumer": f"projects/{number}",
        "quota_limit": quota.limit,
        "quota_limit_value": str(int(rate * 60)),
        "quota_location": "global",
        "quota_metric": f"{service}/{quota.metric}",
        "quota_unit": "1/min/{project}",
        "service": service,
    }
    info = {"reason": "RATE_LIMIT_EXCEEDED", "domain": "googleapis.com", "metadata": metadata}
    links = [{"description": "Request a higher quota limit.", "url": _HELP}]
    details: list[Json] = [
        {"@type": "type.googleapis.com/google.rpc.ErrorInfo", **info},
        {"@type": "type.googleapis.com/google.rpc.Help", "links": links},
    ]
    return ApiError(403, message, "rateLimitExceeded", details)
