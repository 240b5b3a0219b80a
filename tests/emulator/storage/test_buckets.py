"""Buckets."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google_clients import storage_client
from programs import BUCKET, PROJECT


def test_a_bucket_is_created_listed_and_deleted_with_its_notification_configurations(cloud):
    client = storage_client(cloud)
    bucket = client.create_bucket("another-bucket", location="europe-west1")
    bucket.notification("uploads", topic_project=PROJECT).create()

    assert bucket.location == "EUROPE-WEST1"
    assert "another-bucket" in [item.name for item in client.list_buckets()]
    bucket.delete()
    assert not bucket.exists()
    assert cloud.get("b/another-bucket/notificationConfigs/1") is None


def test_configurations_of_a_bucket_that_is_made_anew_are_numbered_from_1(cloud):
    client = storage_client(cloud)
    for _ in range(2):
        bucket = client.create_bucket("another-bucket")
        config = bucket.notification("uploads", topic_project=PROJECT)
        config.create()
        bucket.delete()

        assert config.notification_id == "1"


def test_an_existing_name_and_a_missing_bucket_are_errors(cloud):
    client = storage_client(cloud)
    with pytest.raises(exceptions.Conflict):
        client.create_bucket(BUCKET)
    with pytest.raises(exceptions.NotFound):
        client.get_bucket("missing-bucket")
