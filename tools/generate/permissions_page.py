"""The page of all permissions: the text of `docs/permissions.md`, by resource and verb, with a custom role for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gcpx.gcp.request import COMPUTE, OSLOGIN, PUBSUB, STORAGE
from gcpx.provider import FUNCTIONS, RESOURCES
from generate.verb_permissions import Row, any_of, by_permission, rows_of, table, verbs_of

_VERBS: Final = {
    "create": "create",
    "read": "refresh, import",
    "update": "update",
    "delete": "delete",
    "list": "list",
    "validateOnline": "`validateOnline`",
}
_EVERYTHING: Final = "everything"
_INTRODUCTION: Final = """# Permissions

The account that runs gcpx needs IAM permissions and OAuth scopes. This page lists them for each resource and function,
with a custom role that grants them. To create such a role and grant it to an account, save the role as `role.yaml`,
and run:

```sh
gcloud iam roles create gcpx --project=PROJECT --file=role.yaml
gcloud projects add-iam-policy-binding PROJECT \\
  --member=serviceAccount:deployer@PROJECT.iam.gserviceaccount.com --role=projects/PROJECT/roles/gcpx
```

A comment in a role says when a permission is needed. Delete the lines that your programs do not need. Some permissions
should not be granted on the whole project: the line below the role names them.

Each table has the permissions for each verb, which is something that gcpx does with a resource, such as `create`. A
replacement needs the permissions for `create` and for `delete`. A preview needs none, unless it refreshes first
(`pulumi preview --refresh`), or the [setting](settings.md) `validateOnline` is set.

With the permission to list a kind of resources, such as `compute.instanceTemplates.list`, a refresh of many resources
needs fewer requests. With the permission to list operations, such as `compute.globalOperations.list`, many creations at
once need fewer requests. Both also work without these permissions.

**Nothing on this page has been tried with the real Google Cloud.** The permissions are those in Google's documentation
(see [Sources](#sources)). The tests run every verb against the emulator with exactly these permissions, and again
without each of them.
"""
_ELSEWHERE: Final = """## Granted elsewhere

These permissions are not needed on the resource's project, or are better not granted there:

- **To create instances that run as a service account:** `iam.serviceAccounts.actAs` on that account. A grant on the
  project would apply to every service account of the project, so grant the permission on the account:

  ```sh
  gcloud iam service-accounts add-iam-policy-binding web@PROJECT.iam.gserviceaccount.com \\
    --member=serviceAccount:deployer@PROJECT.iam.gserviceaccount.com --role=roles/iam.serviceAccountUser
  ```

- **To impersonate a service account** (`gcpx:impersonateServiceAccount`): `iam.serviceAccounts.getAccessToken` on that
  account. The role `roles/iam.serviceAccountTokenCreator` has it. Grant everything else on this page to the
  impersonated account.
- **To use another project's quota** (`gcpx:userProjectOverride`), or to let another project pay for calls to a bucket
  (`userProject`): `serviceusage.services.use` on that project. The role `roles/serviceusage.serviceUsageConsumer` has
  it.
- **To use a network, subnetwork, image, disk or template of another project:** the permission that the table names, in
  that project. Images of Google's public projects, such as `debian-cloud`, need none.
- **To let Cloud Storage publish notifications:** `roles/pubsub.publisher` on the topic, for the service agent of Cloud
  Storage in the project of the bucket, and not for the account that runs gcpx.
  `gcloud storage service-agent --project=PROJECT` prints its name.
"""
_KEY_NOTE: Final = """An account manages its own SSH keys. Google's documentation of OS Login names scopes for this, but
no IAM permission, and it names no permission to manage the keys of another account. So use the credentials of the user
who owns the keys. If a service account owns them, set `gcpx:impersonateServiceAccount` to it.
"""
_SOURCES: Final = """## Sources

- Compute Engine: "IAM Permissions" on the page of each method in the
  [REST reference](https://cloud.google.com/compute/docs/reference/rest/v1), and "Required permissions" of
  [Create and start a Compute Engine instance](https://cloud.google.com/compute/docs/instances/create-start-instance).
  Most of it was read in [iam-dataset](https://github.com/iann0036/iam-dataset), which collects it from these pages, and
  not on the pages themselves.
- Cloud Storage: [IAM permissions for JSON methods](https://cloud.google.com/storage/docs/access-control/iam-json) and
  [Requester Pays](https://cloud.google.com/storage/docs/requester-pays).
- Pub/Sub: [Access control with IAM](https://cloud.google.com/pubsub/docs/access-control).
- OS Login: [REST reference](https://cloud.google.com/compute/docs/oslogin/rest).

These things are uncertain:

- The reference says that `bulkInsert` needs "one or more" of `compute.instances.create`, `compute.disks.create` and
  `compute.instances.pscInterfaceCreate`, and `setDiskAutoDelete` one or more of `compute.instances.setDiskAutoDelete`
  and `compute.disks.update`. This page lists all that may be needed.
- No public source says which permission `sourceInstance` of an instance template needs on that instance.
- No public source says whether a change of an instance that runs as a service account needs
  `iam.serviceAccounts.actAs`, if the change does not concern the account.
- No public source says whether Google accepts `compute.advice.capacity` in custom roles. If Google refuses the role,
  delete this line. `roles/compute.viewer` has the permission.
"""


def text() -> str:
    """Return the text of `docs/permissions.md`."""
    parts = [_INTRODUCTION, _contents(), _scopes(), *map(_resource, RESOURCES), _functions(), _all_resources()]
    return "\n".join([*parts, _ELSEWHERE, _SOURCES])


def _contents() -> str:
    names = [*map(_name, RESOURCES), "Functions", "Everything", "Granted elsewhere", "Sources"]
    links = [f"[{name}](#{name.lower().replace(' ', '-')})" for name in ("Scopes", *names)]
    return f"On this page: {', '.join(links)}.\n"


def _scopes() -> str:
    rows = [(api.title, f"`{api.scope}`") for api in (COMPUTE, STORAGE, OSLOGIN, PUBSUB)]
    table = _table(("API", "scope"), rows)
    return (
        "## Scopes\n\nAn OAuth scope limits what a token can be used for. For each API, gcpx requests the narrowest\n"
        f"scope that all its calls accept. If you set `gcpx:scopes`, it requests those instead.\n\n{table}\n"
        "gcpx calls Pub/Sub only if `validateOnline` is set. `getTokenInfo` and `verifyPushToken` use no credentials.\n"
    )


def _resource(token: str) -> str:
    verbs = {verb: rows_of(token, verb) for verb in verbs_of(token)}
    found = [row for rows in verbs.values() for row in rows]
    heading = f"## {_name(token)}\n"
    if not any(rows for verb, rows in verbs.items() if verb != "validateOnline"):
        heading += f"\n{_KEY_NOTE}"
    cells = [cell for verb, rows in verbs.items() for cell in _verb_cells(_VERBS[verb], rows)]
    return f"{heading}\n{_table(('verb', 'permission', 'on', 'when'), cells)}\n{_role(_name(token), found)}"


def _verb_cells(verb: str, rows: list[Row]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of a verb's rows; the first one names the verb."""
    for index, row in enumerate(rows or [Row("", "", when="needs none")]):
        permission = f"`{row.permission}`" if row.permission else ""
        yield (verb if index == 0 else "", permission, row.on, _condition(row))


def _condition(row: Row) -> str:
    """Return the condition of a permission, or what is missing without it."""
    optional = f"optional: without it, {row.without}" if row.without else ""
    return "; ".join(filter(None, (row.when, optional))) or "always"


def _functions() -> str:
    cells = [cell for token in FUNCTIONS for cell in _verb_cells(f"`{_name(token)}`", rows_of(token, "call"))]
    found = [row for token in FUNCTIONS for row in rows_of(token, "call")]
    return f"## Functions\n\n{_table(('function', 'permission', 'on', 'when'), cells)}\n{_role('functions', found)}"


def _all_resources() -> str:
    words = "This role has the permissions for every verb and input of every resource, and for every function.\n"
    return f"## Everything\n\n{words}\n{_role(_EVERYTHING, table())}"


def _role(title: str, found: list[Row]) -> str:
    """Write a custom role with permissions, and name those that are granted elsewhere."""
    rows = by_permission(row for row in found if row.permission and not row.is_elsewhere)
    if not rows:
        return ""
    lines = ["```yaml", f"title: gcpx {title}", "stage: GA", "includedPermissions:"]
    lines += [_role_line(name, rows[name], title) for name in sorted(rows)]
    elsewhere = sorted(by_permission(row for row in found if row.is_elsewhere).keys() - rows.keys())
    names = ", ".join(f"`{name}`" for name in elsewhere)
    after = f"\nNot in this role, but [granted elsewhere](#granted-elsewhere): {names}.\n" if names else ""
    return "\n".join([*lines, "```", after])


def _role_line(name: str, rows: list[Row], title: str) -> str:
    """Write a permission in a role, with a comment about its condition if one is enough."""
    line = f"- {name}"
    needed = any_of([row.when for row in rows if not row.without])
    comment = needed if any(not row.without for row in rows) else _condition(rows[0])
    return line if title == _EVERYTHING or not comment else f"{line}  # {comment.replace('`', '')}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    every = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in every) + "\n"


def _name(token: str) -> str:
    return token.rpartition(":")[2]
