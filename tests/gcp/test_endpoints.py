"""The URLs under which APIs and public pages are called.

Holds settings.md: "Credentials and tokens are sent only".
"""

from __future__ import annotations

import pytest

from gcpx.config import settings
from gcpx.gcp.request import COMPUTE, OAUTH2, OSLOGIN, PUBSUB, STORAGE
from gcpx.gcp.settings import base_url, public_page_url

CERTIFICATES = "https://www.googleapis.com/oauth2/v1/certs"


@pytest.mark.parametrize(
    ("config", "api", "expected"),
    [
        ({}, COMPUTE, "https://compute.googleapis.com"),
        ({"universeDomain": "example.cloud"}, STORAGE, "https://storage.example.cloud"),
        (
            {"computeCustomEndpoint": "https://compute-x.p.googleapis.com/compute/v1/"},
            COMPUTE,
            "https://compute-x.p.googleapis.com",
        ),
        (
            {"computeCustomEndpoint": "https://compute-x.p.googleapis.com"},
            COMPUTE,
            "https://compute-x.p.googleapis.com",
        ),
        ({"osLoginCustomEndpoint": "https://oslogin.example/"}, OSLOGIN, "https://oslogin.example"),
        ({"emulatorHost": "127.0.0.1:8095", "universeDomain": "x"}, OSLOGIN, "http://127.0.0.1:8095"),
        ({"emulatorHost": "https://emulator.example/"}, OSLOGIN, "https://emulator.example"),
    ],
)
def test_every_url_is_built_from_one_base(config, api, expected):
    assert base_url(settings(config, {}), api) == expected


@pytest.mark.parametrize("api", [COMPUTE, STORAGE, OSLOGIN, PUBSUB, OAUTH2], ids=lambda api: api.name)
def test_every_api_has_a_custom_endpoint(api):
    found = settings({}, {f"GOOGLE_{api.setting.upper()}": "https://api.example"})

    assert base_url(found, api) == "https://api.example"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, CERTIFICATES),
        ({"universeDomain": "example.cloud"}, "https://www.example.cloud/oauth2/v1/certs"),
        ({"oauth2CustomEndpoint": "https://oauth2.example/"}, "https://oauth2.example/oauth2/v1/certs"),
        ({"emulatorHost": "127.0.0.1:8095"}, "http://127.0.0.1:8095/oauth2/v1/certs"),
    ],
)
def test_a_public_page_is_read_where_the_oauth2_api_is_called(config, expected):
    assert public_page_url(settings(config, {}), CERTIFICATES) == expected
