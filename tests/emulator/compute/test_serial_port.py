"""The output of serial ports."""

from __future__ import annotations

import pytest
from values.programs import PROJECT, ZONE

OUTPUT = f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances/example-vm/serialPort"


@pytest.mark.parametrize(
    ("query", "contents", "start"),
    [
        ({}, "example-vm login: ", 0),
        ({"port": "1", "start": "8"}, "vm login: ", 8),
        ({"start": "-7"}, "login: ", 11),
        ({"start": "-99"}, "example-vm login: ", 0),
        ({"start": "99"}, "", 18),
        ({"port": "2"}, "", 0),
    ],
)
def test_the_first_port_shows_a_login_prompt(cloud, http, query, contents, start):
    cloud.make_instance()
    output = http.get(OUTPUT, params=query).json()

    assert (output["kind"], output["contents"]) == ("compute#serialPortOutput", contents)
    assert (output["start"], output["next"]) == (str(start), str(start + len(contents)))


def test_only_the_ports_of_an_instance_are_read(cloud, http):
    assert http.get(OUTPUT).status_code == 404
    cloud.make_instance()
    assert [http.get(OUTPUT, params={"port": port}).status_code for port in ("0", "5")] == [400, 400]
