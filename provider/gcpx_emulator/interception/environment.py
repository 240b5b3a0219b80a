"""The environment in which the clients of a program reach an emulator at Google's own addresses."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import certifi

from gcpx_emulator.interception.hosts import OF_GOOGLE
from gcpx_emulator.sign_in import account_of

_BUNDLES: Final = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "HTTPLIB2_CA_CERTS",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "NODE_EXTRA_CA_CERTS",
    "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
)
"""The variables with the certificates that clients trust."""
_PROXIES: Final = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
_NO_PROXIES: Final = ("NO_PROXY", "no_proxy")
_LOCAL: Final = "127.0.0.1,localhost"
"""The hosts that are called without the proxy; it decides about all others, which may be Google's."""
_SITE: Final = Path(__file__).parent / "site"
ELSEWHERE: Final = ("PUBSUB_EMULATOR_HOST", "STORAGE_EMULATOR_HOST")
"""The variables that lead clients from Google's addresses to another emulator, or past the proxy."""


def environment(
    host: str, secure: str, proxy: str, project: str, key: str, authority: str, folder: Path
) -> dict[str, str]:
    """Return the variables for the emulator at `host`; their files are in `folder`.

    Args:
        host: the emulator's address, such as `127.0.0.1:8095`.
        secure: its address with TLS, for Google's names.
        proxy: the URL of the proxy that leads to it.
        project: the project of the credentials.
        key: the private key, in PEM, of the credentials' service account.
        authority: the certificate, in PEM, of the authority that signs the proxy's certificates.
        folder: an empty folder.
    """
    bundle, own, credentials = (folder / name for name in ("certificates.pem", "authority.pem", "credentials.json"))
    bundle.write_text("\n".join([*_trusted(), authority]))
    own.write_text(authority)
    credentials.write_text(json.dumps(_service_account(project, key)))
    return {
        **dict.fromkeys(_PROXIES, proxy),
        **dict.fromkeys(_NO_PROXIES, _LOCAL),
        **dict.fromkeys(_BUNDLES, str(bundle)),
        "GOOGLE_APPLICATION_CREDENTIALS": str(credentials),
        "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE": str(credentials),
        # Credentials and settings of the user are neither used nor changed.
        "CLOUDSDK_CONFIG": str(folder / "gcloud"),
        "CLOUDSDK_CORE_PROJECT": project,
        "GCE_METADATA_HOST": host,
        "GCE_METADATA_IP": host,
        "GCPX_EMULATOR_AUTHORITY": str(own),
        "GCPX_EMULATOR_GOOGLE": secure,
        "GCPX_EMULATOR_INTERCEPTED": OF_GOOGLE,
        "NODE_OPTIONS": " ".join(
            filter(None, [os.environ.get("NODE_OPTIONS"), f'--require "{_SITE / "redirection.cjs"}"'])
        ),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(_SITE), os.environ.get("PYTHONPATH")])),
    }


def _trusted() -> list[str]:
    """Return the certificates that programs trusted before: the usual ones, and what the variables name."""
    named = {file for name in _BUNDLES if Path(file := os.environ.get(name, "")).is_file()}
    return [Path(file).read_text() for file in sorted({certifi.where(), *named})]


def _service_account(project: str, key: str) -> dict[str, str]:
    """Write the key of a service account; only this emulator accepts it."""
    email = account_of(project)
    return {
        "type": "service_account",
        "project_id": project,
        "private_key_id": "emulator",
        "private_key": key,
        "client_email": email,
        "client_id": "100000000000000000000",
        "auth_uri": "https://accounts.google.com/o/oauth2/auth",
        "token_uri": "https://oauth2.googleapis.com/token",
        "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs",
        "universe_domain": "googleapis.com",
    }
