"""The numbers and the default service accounts of projects."""

from __future__ import annotations

import hashlib


def project_number(project: str) -> str:
    """Return the number of a project, which is always the same for its ID; a number stays as it is."""
    if project.isdecimal():
        return project
    return str(10**11 + int(hashlib.sha256(project.encode()).hexdigest()[:12], 16) % (9 * 10**11))


def default_service_account(project: str) -> str:
    """Return the address of the service account that the instances of a project have by default."""
    return f"{project_number(project)}-compute@developer.gserviceaccount.com"
