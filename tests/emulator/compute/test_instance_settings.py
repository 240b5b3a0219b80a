"""Labels, metadata and network tags, changed in place."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import insert_instance
from values.programs import PROJECT, ZONE


def test_labels_tags_and_metadata_change_under_their_fingerprints(cloud):
    instances = insert_instance(cloud)
    where = {"project": PROJECT, "zone": ZONE, "instance": "vm"}
    vm = instances.get(**where)
    labels = compute_v1.InstancesSetLabelsRequest(labels={"a": "b"}, label_fingerprint=vm.label_fingerprint)
    instances.set_labels(**where, instances_set_labels_request_resource=labels).result()
    tags = compute_v1.Tags(items=["web"], fingerprint=vm.tags.fingerprint)
    instances.set_tags(**where, tags_resource=tags).result()
    metadata = compute_v1.Metadata(items=[compute_v1.Items(key="k", value="v")], fingerprint=vm.metadata.fingerprint)
    instances.set_metadata(**where, metadata_resource=metadata).result()
    found = instances.get(**where)

    assert (dict(found.labels), list(found.tags.items), found.metadata.items[0].value) == ({"a": "b"}, ["web"], "v")
    for change in (
        lambda: instances.set_labels(**where, instances_set_labels_request_resource=labels),
        lambda: instances.set_tags(**where, tags_resource=tags),
        lambda: instances.set_metadata(**where, metadata_resource=metadata),
    ):
        with pytest.raises(exceptions.PreconditionFailed, match="fingerprint"):
            change()
