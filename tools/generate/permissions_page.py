"""The page of all permissions: the text of `docs/permissions.md`, by resource and verb, with a custom role for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gcpx.gcp.apis import COMPUTE, OSLOGIN, PUBSUB, STORAGE
from gcpx.provider import FUNCTIONS, RESOURCES
from generate.verb_calls import CALLS
from generate.verb_permissions import Row, any_of, rows_of

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

What the account that runs gcpx needs: the IAM permissions of each resource and function, the OAuth scopes, and custom
roles to grant them with. A replacement needs what `create` and `delete` need. A preview itself needs none, unless it
refreshes first or `validateOnline` is set.

`make schema` writes this page from the declarations that error messages about missing permissions use, too. The tests
run every verb against the emulator with exactly these permissions, and without each of them. **Nothing on this page was
tried with the real Google Cloud**: the permissions of each method are those in Google's documentation, see
[Sources](#sources).

To grant what a resource needs, save its role below as `role.yaml`, and run:

```sh
gcloud iam roles create gcpx --project=PROJECT --file=role.yaml
gcloud projects add-iam-policy-binding PROJECT \\
  --member=serviceAccount:deployer@PROJECT.iam.gserviceaccount.com --role=projects/PROJECT/roles/gcpx
```

A comment in a role says when a permission is needed: delete the lines that your programs do not need. Permissions that
are better granted elsewhere than on the project are named below the role.
"""
_ELSEWHERE: Final = """## Granted elsewhere

- **On a service account** that instances run as: `iam.serviceAccounts.actAs`. Grant it on the account, because on the
  project it would hold for every account of the project:

  ```sh
  gcloud iam service-accounts add-iam-policy-binding web@PROJECT.iam.gserviceaccount.com \\
    --member=serviceAccount:deployer@PROJECT.iam.gserviceaccount.com --role=roles/iam.serviceAccountUser
  ```

- **To impersonate a service account** (`gcpx:impersonateServiceAccount`): `iam.serviceAccounts.getAccessToken` on it,
  which `roles/iam.serviceAccountTokenCreator` has. Grant everything else on this page to the impersonated account.
- **To use another project's quota** (`gcpx:userProjectOverride`), or to have it pay for calls to a bucket
  (`userProject`): `serviceusage.services.use` on that project, which `roles/serviceusage.serviceUsageConsumer` has.
- **In another project**, whose network, subnetwork, image, disk or template a resource uses: the permission there, not
  in the resource's project. Images of Google's public projects, such as `debian-cloud`, need none.
- **For notifications**, the service agent of Cloud Storage, not the account that runs gcpx, must be allowed to publish:
  it needs `roles/pubsub.publisher` on the topic. `gcloud storage service-agent --project=PROJECT` prints its name.
"""
_KEY_NOTE: Final = """The pages of OS Login's methods name scopes and no IAM permission. An account manages its own
keys, and no permission was found in Google's documentation that lets it manage those of another one. Use the
credentials of the user, or set `gcpx:impersonateServiceAccount` to the service account whose keys they are.
"""
_SOURCES: Final = """## Sources

- Compute Engine: "IAM Permissions" on the page of each method in the
  [REST reference](https://cloud.google.com/compute/docs/reference/rest/v1), and "Required permissions" of
  [Create and start a Compute Engine instance](https://cloud.google.com/compute/docs/instances/create-start-instance).
  What the pages of the methods say was mostly read in
  [iam-dataset](https://github.com/iann0036/iam-dataset), which collects it from them, and not on each page.
- Cloud Storage: [IAM permissions for JSON methods](https://cloud.google.com/storage/docs/access-control/iam-json) and
  [Requester Pays](https://cloud.google.com/storage/docs/requester-pays).
- Pub/Sub: [Access control with IAM](https://cloud.google.com/pubsub/docs/access-control).
- OS Login: [REST reference](https://cloud.google.com/compute/docs/oslogin/rest).

What was not found in a public source, or is less certain:

- The reference says of some methods that they need "one or more" of several permissions: `bulkInsert` of
  `compute.instances.create`, `compute.disks.create` and `compute.instances.pscInterfaceCreate`, `setDiskAutoDelete` of
  `compute.instances.setDiskAutoDelete` and `compute.disks.update`. This page lists all that may apply.
- What `sourceInstance` of an instance template needs on that instance.
- Whether a change of an instance that runs as a service account needs `iam.serviceAccounts.actAs`, if it does not
  change the account.
- Whether Google accepts `compute.advice.capacity` in custom roles. `roles/compute.viewer` has it; delete the line if it
  is refused.
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
        "## Scopes\n\nA token must also have a scope of each API that is called. gcpx requests these, which are\n"
        f"the narrowest that all its calls accept; `gcpx:scopes` replaces them.\n\n{table}\n"
        "Pub/Sub is called only with `validateOnline`. `getTokenInfo` and `verifyPushToken` use no credentials.\n"
    )


def _resource(token: str) -> str:
    verbs = {verb: rows_of(token, verb) for verb in CALLS[token]}
    found = [row for rows in verbs.values() for row in rows]
    heading = f"## {_name(token)}\n"
    if not any(rows for verb, rows in verbs.items() if verb != "validateOnline"):
        heading += f"\n{_KEY_NOTE}"
    cells = [cell for verb, rows in verbs.items() for cell in _verb_cells(_VERBS[verb], rows)]
    return f"{heading}\n{_table(('verb', 'permission', 'on', 'when'), cells)}\n{_role(_name(token), found)}"


def _verb_cells(verb: str, rows: list[Row]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of a verb's rows; the first one names the verb."""
    for index, row in enumerate(rows or [Row("", "", "needs none", "")]):
        permission = f"`{row.permission}`" if row.permission else ""
        yield (verb if index == 0 else "", permission, row.on, _condition(row))


def _condition(row: Row) -> str:
    """Say when a permission is needed, or what is missing without it."""
    optional = f"optional: without it, {row.without}" if row.without else ""
    return "; ".join(filter(None, (row.when, optional))) or "always"


def _functions() -> str:
    cells = [cell for token in FUNCTIONS for cell in _verb_cells(f"`{_name(token)}`", rows_of(token, "call"))]
    found = [row for token in FUNCTIONS for row in rows_of(token, "call")]
    return f"## Functions\n\n{_table(('function', 'permission', 'on', 'when'), cells)}\n{_role('functions', found)}"


def _all_resources() -> str:
    found = [row for token, verbs in CALLS.items() for verb in verbs for row in rows_of(token, verb)]
    words = "The least that covers every resource, with every verb and input, and every function.\n"
    return f"## Everything\n\n{words}\n{_role(_EVERYTHING, found)}"


def _role(title: str, found: list[Row]) -> str:
    """Write a custom role that holds permissions, and name those that are granted elsewhere."""
    rows = _by_permission(row for row in found if not row.is_elsewhere)
    if not rows:
        return ""
    lines = ["```yaml", f"title: gcpx {title}", "stage: GA", "includedPermissions:"]
    lines += [_role_line(name, rows[name], title) for name in sorted(rows)]
    elsewhere = sorted(_by_permission(row for row in found if row.is_elsewhere).keys() - rows.keys())
    names = ", ".join(f"`{name}`" for name in elsewhere)
    after = f"\nAlso, as [described below](#granted-elsewhere): {names}.\n" if names else ""
    return "\n".join([*lines, "```", after])


def _by_permission(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.permission, []).append(row)
    return found


def _role_line(name: str, rows: list[Row], title: str) -> str:
    """Write a permission in a role, with a comment that says when it is needed, as far as one says enough."""
    line = f"- {name}"
    needed = any_of([row.when for row in rows if not row.without])
    comment = needed if any(not row.without for row in rows) else _condition(rows[0])
    return line if title == _EVERYTHING or not comment else f"{line}  # {comment.replace('`', '')}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    every = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in every) + "\n"


def _name(token: str) -> str:
    return token.rpartition(":")[2]
