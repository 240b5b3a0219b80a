"""Buckets."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google_clients import storage_client
from programs import BUCKET, PROJECT


def test_storage_errors(cloud):
    client = storage_client(cloud)
    with pytest.raises(exceptions.Conflict):
        client.create_bucket(BUCKET)
    with pytest.raises(exceptions.NotFound):
        client.get_bucket("missing-bucket")
    with pytest.raises(exceptions.BadRequest, match="event type"):
        client.bucket(BUCKET).notification("uploads", topic_project=PROJECT, event_types=["NOTHING"]).create()
