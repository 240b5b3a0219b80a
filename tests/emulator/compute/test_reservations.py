"""Reservations: instances that name one get their capacity from it."""

from __future__ import annotations

import pytest
from google.cloud import compute_v1
from rolling.fleets import set_limits
from servers.google_clients import connect
from values.programs import PROJECT, ZONE, properties

BASE = f"/compute/v1/projects/{PROJECT}"
REGION = "us-east1"
NAME_KEY = "compute.googleapis.com/reservation-name"


@pytest.fixture
def reservations(cloud):
    """Google's client, in a project with a reservation of two small machines."""
    client = connect(compute_v1.ReservationsClient, cloud)
    machine = compute_v1.AllocationSpecificSKUAllocationReservedInstanceProperties(machine_type="e2-small")
    specific = compute_v1.AllocationSpecificSKUReservation(count=2, instance_properties=machine)
    reservation = compute_v1.Reservation(name="nightly", specific_reservation=specific)
    client.insert(project=PROJECT, zone=ZONE, reservation_resource=reservation).result()
    return client


def _outcome(http, count, name="nightly", **more):
    affinity = {"consumeReservationType": "SPECIFIC_RESERVATION", "key": NAME_KEY, "values": [name]}
    body = {
        "count": str(count),
        "namePattern": "w-#",
        "instanceProperties": properties(reservationAffinity=affinity, **more),
    }
    return http.post(f"{BASE}/regions/{REGION}/instances/bulkInsert", json=body)


def _codes(http, started):
    operation = http.get(f"{BASE}/regions/{REGION}/operations/{started.json()['name']}").json()
    return [error["code"] for error in operation.get("error", {}).get("errors", ())]


def test_reservations_are_read_listed_and_deleted(reservations):
    where = {"project": PROJECT, "zone": ZONE}

    assert reservations.get(**where, reservation="nightly").status == "READY"
    assert [item.name for item in reservations.list(**where)] == ["nightly"]
    reservations.delete(**where, reservation="nightly").result()
    assert list(reservations.list(**where)) == []


def test_instances_with_a_reservation_need_no_other_capacity(cloud, http, reservations):
    set_limits(cloud, zones={ZONE: 0, "us-east1-c": 0, "us-east1-d": 0})
    first, second = _outcome(http, 2), _outcome(http, 1)

    assert _codes(http, first) == []
    assert "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS" in _codes(http, second)
    found = reservations.get(project=PROJECT, zone=ZONE, reservation="nightly")
    assert (found.specific_reservation.count, found.specific_reservation.in_use_count) == (2, 2)


def test_a_reservation_is_for_its_machine_type(http, reservations):
    codes = _codes(http, _outcome(http, 1, machineType="e2-medium"))

    assert codes == ["VM_MIN_COUNT_NOT_REACHED", "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"]


def test_a_reservation_that_does_not_exist_is_refused(http, reservations):
    refused = _outcome(http, 1, "weekly")

    assert refused.status_code == 400
    assert f"projects/{PROJECT}/zones/{ZONE}/reservations/weekly" in refused.text
    assert "do not exist" in refused.text
    assert _outcome(http, 1, f"projects/{PROJECT}/reservations/nightly").status_code == 200


def test_a_reservation_needs_a_number_of_instances(http):
    refused = http.post(f"{BASE}/zones/{ZONE}/reservations", json={"name": "empty", "specificReservation": {}})

    assert (refused.status_code, "specificReservation.count" in refused.text) == (400, True)
