"""What clients read before they call an API: tokens, a metadata server, and API descriptions."""

from __future__ import annotations

import jwt
import pytest

FLAVOR = {"Metadata-Flavor": "Google"}
ACCOUNT = "emulator@demo-project.iam.gserviceaccount.com"
DEFAULT = "/computeMetadata/v1/instance/service-accounts/default"


@pytest.mark.parametrize("path", ["/token", "/oauth2/v4/token"])
def test_a_refresh_token_gives_a_token_of_a_user(http, path):
    answer = http.post(path, data={"grant_type": "refresh_token", "refresh_token": "any"}).json()

    assert jwt.decode(answer["access_token"], options={"verify_signature": False})["email"] == "me@example.com"
    assert (answer["token_type"], answer["expires_in"]) == ("Bearer", 3599)


def test_a_token_is_of_the_account_that_a_policy_sees(http):
    bindings = [{"permission": "compute.disks.list", "members": ["somebody@example.com"]}]
    http.post("/_emulator/policy", json={"bindings": bindings})
    token = http.post("/o/oauth2/token", data={}).json()["access_token"]
    answer = http.get(
        "/compute/v1/projects/demo-project/zones/us-east1-b/disks", headers={"Authorization": f"Bearer {token}"}
    )

    assert answer.status_code == 403


def test_a_form_that_is_not_utf_8_is_read(http):
    assert http.post("/token", content=b"refresh_token=\xff").status_code == 200


def test_an_assertion_that_is_no_token_is_refused(http):
    answer = http.post("/token", data={"assertion": "no"})

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


def test_the_metadata_server_answers_only_with_its_header(http):
    assert http.get(f"{DEFAULT}/email", headers=FLAVOR).text == ACCOUNT
    assert http.get(f"{DEFAULT}/email").status_code == 403
    assert http.get("/computeMetadata/v1/instance/name", headers=FLAVOR).status_code == 404


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("project/project-id", "demo-project"),
        ("universe/universe-domain", "googleapis.com"),
        ("instance/service-accounts/", f"default/\n{ACCOUNT}/\n"),
        (f"instance/service-accounts/{ACCOUNT}/email", ACCOUNT),
    ],
)
def test_entries_of_the_metadata_server(http, path, expected):
    answer = http.get(f"/computeMetadata/v1/{path}", headers=FLAVOR)

    assert (answer.text, answer.headers["Metadata-Flavor"]) == (expected, "Google")


def test_browsers_and_clients_find_different_pages_at_the_root(http):
    assert http.get("/", headers=FLAVOR).text == "computeMetadata/\n"
    assert "<html" in http.get("/").text


def test_an_api_description_has_the_address_of_the_emulator(http, cloud):
    content = http.get("/discovery/v1/apis/compute/v1/rest").json()

    assert (content["rootUrl"], content["baseUrl"]) == (f"http://{cloud.host}/", f"http://{cloud.host}/compute/v1/")
    assert http.get("/discovery/v1/apis/cloudbuild/v1/rest").status_code == 501


def test_the_openid_configuration_names_the_certificates(http):
    content = http.get("/.well-known/openid-configuration").json()

    assert content["jwks_uri"] == "https://www.googleapis.com/oauth2/v3/certs"
