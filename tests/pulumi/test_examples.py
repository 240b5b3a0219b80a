"""Every example works under the real CLI with the generated SDK."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import httpx
import pytest
from engines.clock import HANGS
from generate.examples import SOURCE, names
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage
from servers.receiving import endpoint
from values.programs import (
    ATTACHMENT,
    EXPIRY,
    FLEET,
    IMAGE,
    KEY,
    NOTIFICATION,
    PROJECT,
    TEMPLATE,
    USER,
    attachment,
    fleet,
    image,
    key,
    notification,
    template,
)  # fmt: skip
from workspace import ROOT, Workspace, language_of

pytestmark = [pytest.mark.pulumi, pytest.mark.languages]
ACCOUNT = "pusher@demo-project.iam.gserviceaccount.com"
PROGRAMS = sorted(
    path.parent.name
    for path in (ROOT / "examples").glob("*/Pulumi.yaml")
    if language_of(path.parent) == "python" or path.parent.name == "adopt"
    if path.parent.name not in {"managed-group", "testing"}
)
"""The programs in Python and the empty one of `adopt`; `tests/languages` runs those in other languages, `tests/beside`
the one with pulumi-gcp, and `test_recipes.py` the one with its own tests."""
EXAMPLES = [*PROGRAMS, *(f"{name}/{SOURCE.partition('/')[0]}" for name in names())]
"""The folders of all programs that are run here: those in Python, and the sources in YAML of the examples that exist in
every language."""


def signed_token(cloud):
    order = {"email": ACCOUNT, "audience": "https://example.com/push"}
    return httpx.post(f"http://{cloud.host}/_emulator/tokens", json=order, trust_env=False, timeout=HANGS).json()[
        "token"
    ]


def finished_operation(cloud):
    operations = f"http://{cloud.host}/compute/v1/projects/{PROJECT}/zones/us-east1-b/operations"
    return httpx.get(operations, trust_env=False, timeout=HANGS).json()["items"][0]["name"]


CONFIG = {
    "get-operation": {"operation": finished_operation},
    "get-token-info": {"token": signed_token},
    "token-check": {
        "token": signed_token,
        "audience": lambda _: "https://example.com/push",
        "serviceAccountEmail": lambda _: ACCOUNT,
    },
    "verify-push-token": {"token": signed_token},
}
"""The settings that examples require."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_created_shows_no_change_and_is_destroyed(name, cloud, tmp_path, pulumi_home):
    for bucket in ("demo-uploads", "example-uploads"):
        cloud.emulator.store.put(
            f"b/{bucket}", {"kind": "storage#bucket", "name": bucket, "id": bucket, "_project": PROJECT}
        )
    cloud.make_disk()
    cloud.make_regional_disk()
    cloud.make_instance()
    _make_capacity(cloud)
    made = {"name": "made-by-hand", **template()}
    cloud.post(f"/compute/v1/projects/{PROJECT}/global/instanceTemplates", made)
    before = cloud.emulator.store.counts()
    workspace = Workspace.make(ROOT / "examples" / name, tmp_path, cloud.host, pulumi_home)
    for setting, value in CONFIG.get(name.partition("/")[0], {}).items():
        secret = ["--secret"] if setting == "token" else []
        workspace.run("config", "set", *secret, setting, value(cloud))
    said = workspace.run("up", "--yes", "--skip-preview").stdout
    workspace.run("preview", "--refresh", "--expect-no-changes")

    assert "warning:" not in said  # lists have a property of that name
    outputs = json.loads(workspace.run("stack", "output", "--json").stdout)
    assert outputs or name == "adopt"
    assert all(outputs.values())
    workspace.run("destroy", "--yes", "--skip-preview")
    assert cloud.emulator.store.counts() == before


def _make_capacity(cloud):
    """Create a reservation for 2 instances, which is too small for the fleet that uses it, and placement policies."""
    base = f"/compute/beta/projects/{PROJECT}"
    for name in ("rack-1", "rack-2"):
        placement = {"collocation": "COLLOCATED", "maxDistance": 1}
        cloud.post(f"{base}/regions/us-east1/resourcePolicies", {"name": name, "groupPlacementPolicy": placement})
    reserved = {"count": "2", "instanceProperties": {"machineType": "n2-standard-4"}}
    cloud.post(f"{base}/zones/us-east1-b/reservations", {"name": "training", "specificReservation": reserved})


def _workspace(name, cloud, tmp_path, pulumi_home):
    return Workspace.make(ROOT / "examples" / name, tmp_path, cloud.host, pulumi_home)


def _script(workspace, name, *arguments):
    """Run a script of an example as a user would; return its output."""
    return subprocess.run(
        [sys.executable, name, *arguments],
        cwd=workspace.program,
        env={**os.environ, **workspace.variables},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


def test_adopt_imports_everything_in_a_project(cloud, engine, vm, tmp_path, pulumi_home):
    script = "#cloud-config\nruncmd:\n- echo ${HOME}\npackage_update: TRUE\n\nmanage_etc_hosts: True\n"
    texts = [
        "TRUE",
        "True",
        "true",
        "FALSE",
        "1",
        "0x1F",
        "0o17",
        ".inf",
        "null",
        "Null",
        "~",
        "-",
        "a: TRUE",
        "",
        script,
    ]
    metadata = {"items": [{"key": f"k{number}", "value": text} for number, text in enumerate(texts)]}
    made = [
        engine.create(TEMPLATE, "web", template(labels={"app": "web"}, metadata=metadata)),
        engine.create(TEMPLATE, "web", {**template(), "region": "us-east1"}),
        engine.create(IMAGE, "golden", image()),
        engine.create(ATTACHMENT, "data", attachment(deviceName="data")),
        engine.create(FLEET, "workers", fleet(3)),
        engine.create(NOTIFICATION, "uploads", notification(eventTypes=["OBJECT_DELETE"])),
        engine.create(KEY, "laptop", key(expirationTimeUsec=EXPIRY)),
    ]
    workspace = _workspace("adopt", cloud, tmp_path, pulumi_home)
    done = _script(workspace, "adopt.py", USER)
    adopted = {item["id"] for item in workspace.state()["deployment"]["resources"] if item["type"].startswith("gcpx:")}

    assert adopted == {resource.id for resource in made}
    assert "7 resources are in the stack" in done
    workspace.run("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    workspace.run("preview", "--expect-no-changes")


def test_events_of_a_bucket_reach_a_guarded_receiver(cloud, tmp_path, pulumi_home):
    workspace = _workspace("bucket-events", cloud, tmp_path, pulumi_home)
    spec = importlib.util.spec_from_file_location("receiver", workspace.program / "receiver.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    keys = f"http://{cloud.host}/oauth2/v1/certs"
    cloud.emulator.store.delete(f"projects/{PROJECT}/topics/uploads")  # subscribe.py creates it
    with endpoint(lambda url, received: module.receiver(received.put, url, ACCOUNT, keys)) as receiver:
        _script(workspace, "subscribe.py", PROJECT, receiver.url, ACCOUNT)
        workspace.run("up", "--yes", "--skip-preview")
        bucket = storage.Client(
            project=PROJECT, credentials=AnonymousCredentials(), client_options={"api_endpoint": f"http://{cloud.host}"}
        ).bucket("demo-uploads")
        bucket.blob("out/no.png").upload_from_string(b"not asked for")
        bucket.blob("in/yes.png").upload_from_string(b"picture")
        message = receiver.next()
        deliveries = cloud.deliveries(1)
        strangers = [httpx.post(receiver.url, json={"message": {}}, headers=headers, trust_env=False, timeout=HANGS).status_code
                     for headers in ({}, {"Authorization": "Bearer a.b.c"})]  # fmt: skip

    assert message.attributes["objectId"] == "in/yes.png"
    assert message.attributes["pipeline"] == "thumbnails"
    assert json.loads(message.text)["size"] == "7"
    assert strangers == [400, 400]
    assert receiver.received.empty()
    assert [entry["status"] for entry in deliveries] == [204]
    workspace.run("destroy", "--yes", "--skip-preview")


def test_the_token_stays_secret(cloud, tmp_path, pulumi_home):
    workspace = _workspace("token-check", cloud, tmp_path, pulumi_home)
    token = signed_token(cloud)
    # The setting is not secret, because the CLI itself masks secret settings. The program makes the value secret.
    workspace.run("config", "set", "--plaintext", "token", token)
    workspace.run("config", "set", "audience", "another")
    workspace.run("config", "set", "serviceAccountEmail", ACCOUNT)
    said = workspace.run("up", "--yes", "--skip-preview")
    outputs = json.loads(workspace.run("stack", "output", "--json", "--show-secrets").stdout)

    assert outputs == {"account": ACCOUNT, "verdict": "the token is for another audience"}
    assert token not in said.stdout + said.stderr
    assert token not in json.dumps(workspace.state())


def test_the_disk_moves_to_another_instance(cloud, tmp_path, pulumi_home):
    cloud.make_regional_disk()
    first, second = cloud.make_instance(), cloud.make_instance("standby-vm")
    workspace = _workspace("data-disk", cloud, tmp_path, pulumi_home)
    workspace.run("up", "--yes", "--skip-preview")
    workspace.run("config", "set", "instance", "standby-vm")
    workspace.run("up", "--yes", "--skip-preview")

    assert [len(cloud.get(path)["disks"]) for path in (first, second)] == [1, 2]
    workspace.run("destroy", "--yes", "--skip-preview")
    assert len(cloud.get(second)["disks"]) == 1


def test_the_label_of_a_golden_image_changes_in_place(cloud, tmp_path, pulumi_home):
    cloud.make_instance()
    workspace = _workspace("golden-image", cloud, tmp_path, pulumi_home)
    workspace.run("up", "--yes", "--skip-preview")
    workspace.run("config", "set", "release", "two")

    assert "~ 1 updated" in workspace.run("up", "--yes", "--skip-preview").stdout
    assert len(cloud.requests("compute.machineImages.insert")) == 1
    workspace.run("destroy", "--yes", "--skip-preview")
