"""Import the existing resources of a project: list them, import them in one command, and verify a clean preview.

Run it in the folder of a stack, where `pulumi` is set up: `python adopt.py operator@example.com ...`, with the users
whose SSH keys are to be imported. It writes the resources that it finds to `adopt.json`, and the program to
`Main.yaml`.

`pulumi do` does not read the stack's configuration, so the script passes the settings of gcpx to it: credentials as
environment variables, the others as flags. Settings that are lists have no flag: `scopes` and
`impersonateServiceAccountDelegates` apply only to the import and the preview.
"""

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

COMPUTE = ("InstanceTemplate", "MachineImage", "DiskAttachment", "BulkInstances")
SECRET = {"credentials": "GOOGLE_CREDENTIALS", "accessToken": "GOOGLE_OAUTH_ACCESS_TOKEN"}
BARE = re.compile(
    r"(: |- )(TRUE|True|FALSE|False|NULL|Null|null|~|0[ox][0-9A-Fa-f]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
)


def pulumi(*arguments: str) -> str:
    """Run the CLI; if it fails, show its output and stop."""
    done = subprocess.run(["pulumi", *arguments], check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}`pulumi {arguments[0]}` failed")
    return done.stdout


def settings() -> list[str]:
    """Put the stack's credentials for gcpx into the environment; return its other settings as flags of `pulumi do`."""
    flags: list[str] = []
    for key, setting in json.loads(pulumi("config", "--json", "--show-secrets")).items():
        package, _, name = key.partition(":")
        if package != "gcpx" or "value" not in setting:
            continue
        if name in SECRET:
            os.environ[SECRET[name]] = setting["value"]
        elif not setting["value"].startswith("["):
            flag = re.sub("[A-Z]", lambda letter: f"-{letter[0].lower()}", name)
            flags.append(f"--gcpx:{flag}={setting['value']}")
    return flags


def listed(flags: list[str], token: str, *query: str) -> list[dict[str, str]]:
    """Return the resources of one type, in the form that `pulumi import --file` reads."""
    found: list[dict[str, str]] = json.loads(pulumi("do", token, "list", "--all", *query, *flags) or "[]") or []
    print(f"{len(found):>6,}  {token}")
    return [{"type": token, "name": item["name"], "id": item["id"]} for item in found]


def named(resources: list[dict[str, str]]) -> list[dict[str, str]]:
    """Give each resource a unique name that can be a variable in any language."""
    taken: set[str] = set()
    for resource in resources:
        kind = resource["type"].rpartition(":")[2]
        name = re.sub(r"\W+", "-", f"{kind[0].lower()}{kind[1:]}-{resource['name']}").strip("-")
        numbered = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
        resource["name"] = next(free for free in numbered if free not in taken)
        taken.add(resource["name"])
    return resources


def quoted(code: str) -> str:
    """Quote the strings that YAML would read as something else, such as TRUE: the CLI writes them without quotes.

    What is meant as a boolean, it writes in lower case. Lines of a longer text, which are indented further than its
    key, stay as they are.
    """
    lines: list[str] = []
    text_in: int | None = None
    for line in code.splitlines():
        if text_in is not None and line.strip() and not line.startswith(" " * (text_in + 1)):
            text_in = None
        if text_in is None and re.search(r": [|>][-+0-9]*$", line):
            text_in = len(line) - len(line.lstrip(" -"))
        lines.append(line if text_in is not None else BARE.sub(r"\1'\2'", line))
    return "\n".join(lines) + "\n"


def main(users: list[str]) -> None:
    """List the resources, import them, and verify that a preview shows no change."""
    flags = settings()
    found = [resource for kind in COMPUTE for resource in listed(flags, f"gcpx:compute:{kind}")]
    found += listed(flags, "gcpx:storage:NotificationConfig")
    for user in users:
        found += listed(flags, "gcpx:oslogin:SshKey", "--user", user)
    if not found:
        sys.exit("There is nothing to import: gcpx found none of its resources in this project.")
    Path("adopt.json").write_text(json.dumps({"resources": named(found)}, indent=2))
    pulumi("import", "--file", "adopt.json", "--out", "adopted.yaml", "--yes", "--skip-preview", "--suppress-progress")
    adopted = Path("adopted.yaml")
    Path("Main.yaml").write_text(quoted(adopted.read_text()))
    adopted.unlink()
    pulumi("preview", "--expect-no-changes", "--suppress-progress")
    print(f"{len(found):,} resources are in the stack, Main.yaml describes them, and a preview shows no change.")


if __name__ == "__main__":
    main(sys.argv[1:])
