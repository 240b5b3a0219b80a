"""What Google's clients read before they call an API: access tokens, a metadata server, and API descriptions.

No API description has these pages. Every credential is accepted, and each token names its account.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs

import attrs
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Match, Route
from starlette.types import Scope

from gcpx_emulator.core.discovery import APIS, source_of
from gcpx_emulator.core.errors import ApiError
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.projects import project_number
from gcpx_emulator.core.signing import id_token_claims
from gcpx_emulator.emulator import Emulator

USER: Final = "me@example.com"
"""The account of tokens whose request names none."""
_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
_SECONDS: Final = 3599
"""The lifetime that Google's token responses say."""
_TOKENS: Final = ("/token", "/o/oauth2/token", "/oauth2/v4/token")
"""The paths of the token server; clients for Node.js call the last."""
_FLAVOR: Final = {"Metadata-Flavor": "Google"}
_ACCOUNTS: Final = "https://accounts.google.com"
_CERTIFICATES: Final = "https://www.googleapis.com/oauth2/v3/certs"


def account_of(project: str) -> str:
    """Return the service account of programs in a project."""
    return f"emulator@{project}.iam.gserviceaccount.com"


class _Ping(Route):
    """The metadata server's answer to clients that look for one; browsers ask for the console at the same path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match only requests to a metadata server."""
        is_meant = scope["type"] == "http" and "metadata-flavor" in Headers(scope=scope)
        return super().matches(scope) if is_meant else (Match.NONE, {})


@attrs.frozen
class SignIn:
    """The pages of an emulator.

    Attributes:
        project: the project that the metadata server names.
    """

    emulator: Emulator
    project: str

    def routes(self) -> list[Route]:
        """Return the routes of all pages."""
        return [
            *(Route(path, self.token, methods=["POST"]) for path in _TOKENS),
            Route("/.well-known/openid-configuration", self.openid),
            Route("/discovery/v1/apis/{api}/{version}/rest", self.description),
            Route("/$discovery/rest", self.description),
            Route("/computeMetadata/v1/{path:path}", self.metadata),
            _Ping("/", lambda _request: PlainTextResponse("computeMetadata/\n", headers=_FLAVOR)),
        ]

    async def token(self, request: Request) -> Response:
        """Give an access token for a refresh token or an assertion, or the ID token that an assertion asks for."""
        from gcpx_emulator.core.keys import claims_of  # noqa: PLC0415 - takes long to load

        form = {name: values[-1] for name, values in parse_qs((await request.body()).decode(errors="replace")).items()}
        try:
            claims = claims_of(form["assertion"]) if "assertion" in form else {}
        except ValueError as error:
            return JSONResponse({"error": "invalid_grant", "error_description": str(error)}, 400)
        email, audience = str(claims.get("iss", USER)), claims.get("target_audience")
        if audience:
            return JSONResponse({"id_token": self.emulator.signer.id_token(email, str(audience))})
        return JSONResponse({**self._access(email), "scope": str(claims.get("scope", _SCOPE))})

    def _access(self, email: str) -> Json:
        token = self.emulator.signer.token(id_token_claims(email, _SCOPE, self.emulator.now()))
        return {"access_token": token, "expires_in": _SECONDS, "token_type": "Bearer"}

    def openid(self, _request: Request) -> Response:
        """Say where the certificates of accounts are."""
        content = {
            "issuer": _ACCOUNTS,
            "token_endpoint": "https://oauth2.googleapis.com/token",
            "jwks_uri": _CERTIFICATES,
            "id_token_signing_alg_values_supported": ["RS256"],
        }
        return JSONResponse(content)

    def description(self, request: Request) -> Response:
        """Return the description of an API that is emulated, for the address of this request."""
        api = request.path_params.get("api") or (request.url.hostname or "").partition(".")[0].rpartition("-")[2]
        name = f"{api}.{request.path_params.get('version') or request.query_params.get('version')}"
        if name not in APIS:
            raise ApiError(501, f"{name} is not emulated; {', '.join(sorted(APIS))} are.")
        root = str(request.base_url)
        content: Json = json.loads(source_of(name))
        return JSONResponse({**content, "rootUrl": root, "baseUrl": f"{root}{content['servicePath']}"})

    def metadata(self, request: Request) -> Response:
        """Answer as the metadata server of an instance in the project, with a service account of that project."""
        if "metadata-flavor" not in request.headers:
            raise ApiError(403, "Requests to the metadata server need the header Metadata-Flavor: Google.", "forbidden")
        value = self._value(request.path_params["path"].strip("/"), request.query_params)
        if isinstance(value, str):
            return PlainTextResponse(value, headers=_FLAVOR)
        return JSONResponse(value, headers=_FLAVOR)

    def _value(self, path: str, query: Mapping[str, str]) -> Any:
        """Return an entry of the metadata server."""
        email = account_of(self.project)
        account, _, entry = path.removeprefix("instance/service-accounts").strip("/").partition("/")
        if path.startswith("instance/service-accounts") and account in {"", "default", email}:
            accounts: dict[str, Any] = {
                "": {"aliases": ["default"], "email": email, "scopes": [_SCOPE]},
                "email": email,
                "scopes": _SCOPE,
                "token": self._access(email),
            }
            if entry == "identity" and "audience" in query:
                return self.emulator.signer.id_token(email, query["audience"])
            if not account:
                return {"default": accounts[""]} if query.get("recursive") else f"default/\n{email}/\n"
            if entry in accounts:
                return accounts[entry]
        others = {
            "project/project-id": self.project,
            "project/numeric-project-id": project_number(self.project),
            "universe/universe-domain": "googleapis.com",
            "universe/universe_domain": "googleapis.com",
        }
        if path not in others:
            raise ApiError(404, f"/computeMetadata/v1/{path} is not emulated.", "notFound")
        return str(others[path])
