"""Service accounts: those that programs create, and the one that every project has for its instances."""

from __future__ import annotations

import re
from typing import Final

from gcpx_emulator.core.call import Call, handles
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import in_order, page_of
from gcpx_emulator.core.permissions import declare_needs, need
from gcpx_emulator.core.projects import default_service_account, project_number

_KIND: Final = "serviceAccounts"
_ANY_PROJECT: Final = "-"
_DEFAULT_SIZE: Final = "20"
_MOST: Final = 100
_ID: Final = re.compile(r"[a-z][-a-z0-9]{4,28}[a-z0-9]")
_MOST_BYTES: Final = {"displayName": 100, "description": 256}
"""The fields of an account that programs set, and the sizes that they may have in UTF-8."""
_FIRST_ID: Final = 10**20
"""Unique IDs have 21 digits."""


def _project(call: Call) -> str:
    return f"projects/{call.path['projectsId']}"


declare_needs(
    {
        f"iam.projects.serviceAccounts.{verb}": (
            need(lambda call: [_project(call)], f"iam.serviceAccounts.{verb} on the project"),
        )
        for verb in ("create", "delete", "get", "list")
    }
)


@handles("iam.projects.serviceAccounts.create")
def create_account(call: Call) -> Json:
    """Create a service account."""
    project, account = call.path["projectsId"], call.body.get("accountId") or ""
    if not _ID.fullmatch(account):
        raise ApiError(400, f"The account ID {account[:40]!r} must match {_ID.pattern}.")
    given = call.body.get("serviceAccount") or {}
    for field, most in _MOST_BYTES.items():
        if len((given.get(field) or "").encode()) > most:
            raise ApiError(400, f"The field {field} of a service account must have at most {most} bytes.")
    new = _account(project, f"{account}@{project}.iam.gserviceaccount.com")
    if call.store.get(new["name"]) is not None:
        raise ApiError(409, f"Service account {account} already exists within project projects/{project}.")
    number = str(_FIRST_ID + call.store.next(_KIND))
    new |= {"uniqueId": number, "oauth2ClientId": number}
    new |= {field: given[field] for field in _MOST_BYTES if given.get(field)}
    call.store.put(new["name"], new)
    return new


def _account(project: str, email: str) -> Json:
    return {"name": f"projects/{project}/{_KIND}/{email}", "projectId": project, "email": email}


def _default(project: str) -> Json:
    """Return the service account of a project's instances."""
    number = str(2 * _FIRST_ID + int(project_number(project)))
    return _account(project, default_service_account(project)) | {
        "uniqueId": number,
        "oauth2ClientId": number,
        "displayName": "Compute Engine default service account",
    }


def _accounts(call: Call) -> list[Json]:
    """List the service accounts of a project, or what was created in any project."""
    if call.path["projectsId"] == _ANY_PROJECT:
        return [account for _, account in call.store.of_kind(_KIND)]
    return [_default(call.path["projectsId"]), *call.store.list(f"{_project(call)}/{_KIND}")]


@handles("iam.projects.serviceAccounts.get")
def get_account(call: Call) -> Json:
    """Read a service account, by its e-mail address or its unique ID."""
    wanted = call.path["serviceAccountsId"]
    for account in _accounts(call):
        if wanted in (account["email"], account["uniqueId"]):
            return account
    if call.path["projectsId"] == _ANY_PROJECT:  # source: the description of the parameter `name`
        raise ApiError(403, f"Permission denied on service account {wanted}, or it does not exist.")
    raise ApiError(404, f"Unknown service account {wanted}")


@handles("iam.projects.serviceAccounts.list")
def list_accounts(call: Call) -> Json:
    """List the service accounts of a project."""
    size = min(int(call.query.get("pageSize") or _DEFAULT_SIZE), _MOST)
    accounts = {account["name"]: account for account in _accounts(call)}
    rows, token = page_of(in_order(accounts), {**call.query, "maxResults": str(size or _DEFAULT_SIZE)})
    return {"accounts": [account for _, account in rows], **({"nextPageToken": token} if token else {})}


@handles("iam.projects.serviceAccounts.delete")
def delete_account(call: Call) -> Json:
    """Delete a service account."""
    name = get_account(call)["name"]
    if call.store.get(name) is None:
        raise ApiError(501, f"{call.method.id} of the service account of a project's instances is not emulated")
    call.store.delete(name)
    return {}
