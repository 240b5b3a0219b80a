"""OAuth 2.0 scopes of service accounts: the URLs that Google knows, and gcloud's short names for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from gcpx.model.patterns import Form

_PREFIX: Final = "https://www.googleapis.com/auth/"
SHORT_NAMES: Final[Mapping[str, str]] = {
    "bigquery": "bigquery",
    "cloud-platform": "cloud-platform",
    "cloud-source-repos": "source.full_control",
    "cloud-source-repos-ro": "source.read_only",
    "compute-ro": "compute.readonly",
    "compute-rw": "compute",
    "datastore": "datastore",
    "logging-write": "logging.write",
    "monitoring": "monitoring",
    "monitoring-read": "monitoring.read",
    "monitoring-write": "monitoring.write",
    "pubsub": "pubsub",
    "service-control": "servicecontrol",
    "service-management": "service.management.readonly",
    "sql": "sqlservice",
    "sql-admin": "sqlservice.admin",
    "storage-full": "devstorage.full_control",
    "storage-ro": "devstorage.read_only",
    "storage-rw": "devstorage.read_write",
    "taskqueue": "taskqueue",
    "trace": "trace.append",
    "userinfo-email": "userinfo.email",
}
"""gcloud's names that stand for one scope. Google itself does not know them: it would give instances no access."""

SCOPE: Final = Form(
    rf"https://\S+|{'|'.join(map(re.escape, SHORT_NAMES))}",
    f"the URL of a scope, such as {_PREFIX}cloud-platform, or a short name of gcloud: {', '.join(SHORT_NAMES)}",
)


def resolve(scope: Any) -> Any:
    """Return the URL of a scope; a value that is no short name stays.

    >>> resolve("logging-write")
    'https://www.googleapis.com/auth/logging.write'
    """
    return _PREFIX + SHORT_NAMES[scope] if scope in SHORT_NAMES else scope
