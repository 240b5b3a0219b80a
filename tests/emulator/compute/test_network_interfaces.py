"""Network interfaces, changed in place."""

from __future__ import annotations

import pytest
from google.api_core import exceptions
from google.cloud import compute_v1
from servers.google_clients import insert_instance
from values.programs import PROJECT, ZONE


def test_a_network_interface_changes_under_its_fingerprint(cloud):
    instances = insert_instance(cloud)
    where = {"project": PROJECT, "zone": ZONE, "instance": "vm"}

    def update(name="nic0", **fields):
        change = compute_v1.NetworkInterface(**fields)
        instances.update_network_interface(**where, network_interface=name, network_interface_resource=change).result()
        return instances.get(**where).network_interfaces[0]

    made = instances.get(**where).network_interfaces[0]
    ranges = [compute_v1.AliasIpRange(ip_cidr_range="10.1.2.0/24")]
    with pytest.raises(exceptions.BadRequest, match=r"'resource\.fingerprint'"):
        update(alias_ip_ranges=ranges)
    changed = update(alias_ip_ranges=ranges, fingerprint=made.fingerprint)
    with pytest.raises(exceptions.PreconditionFailed, match="fingerprint"):
        update(alias_ip_ranges=[], fingerprint=made.fingerprint)
    subnetwork = "regions/us-east1/subnetworks/default"
    moved = update(subnetwork=subnetwork, stack_type="IPV4_IPV6", fingerprint=changed.fingerprint)

    assert (changed.alias_ip_ranges[0].ip_cidr_range, changed.network_i_p) == ("10.1.2.0/24", made.network_i_p)
    assert (moved.subnetwork.endswith(subnetwork), moved.stack_type, moved.name) == (True, "IPV4_IPV6", "nic0")
    assert moved.alias_ip_ranges == changed.alias_ip_ranges, "what an update leaves out stays"
    assert len({made.fingerprint, changed.fingerprint, moved.fingerprint}) == 3
    with pytest.raises(exceptions.BadRequest, match="no such network interface"):
        update(name="nic1", fingerprint=moved.fingerprint)
    with pytest.raises(exceptions.BadRequest, match=r"'resource\.nicType'"):
        update(nic_type="GVNIC", fingerprint=moved.fingerprint)
    with pytest.raises(exceptions.BadRequest, match=r"aliasIpRanges\[0\]\.ipCidrRange"):
        update(alias_ip_ranges=[compute_v1.AliasIpRange(ip_cidr_range="/129")], fingerprint=moved.fingerprint)
