"""Steps of a program that uses a client; each is reported in a line of JSON, also if it fails."""

import json
import sys
from contextlib import contextmanager

PROJECT, ZONE, REGION = "demo-project", "us-east1-b", "us-east1"
IMAGE = "projects/debian-cloud/global/images/family/debian-12"


@contextmanager
def step(name):
    """Report whether the block ends normally; a program goes on after a step that fails."""
    error = None
    try:
        yield
    except Exception as raised:  # noqa: BLE001 - clients raise errors of many kinds
        error = f"{type(raised).__name__}: {raised}"
    sys.stdout.write(json.dumps({"step": name, "error": error}) + "\n")
    sys.stdout.flush()
