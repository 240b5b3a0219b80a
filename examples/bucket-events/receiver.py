"""A receiver of events. The middleware refuses every request that is not a push of the subscription.

PUSH_AUDIENCE=https://... PUSH_SERVICE_ACCOUNT=pusher@... uvicorn receiver:app
"""

import os
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gcpx_push import GOOGLE, Certificates, PushMessage, PushMiddleware, PushVerifier


def receiver(
    handle: Callable[[PushMessage], None], audience: str, account: str, certificates_url: str
) -> PushMiddleware:
    """Return a guarded application, which answers 204 after it has handled a message."""

    async def push(request: Request) -> Response:
        handle(request.scope["gcpx.push"])
        return Response(status_code=204)

    verifier = PushVerifier(audience, account, certificates=Certificates(certificates_url))
    return PushMiddleware(Starlette(routes=[Route("/push", push, methods=["POST"])]), verifier)


def show(message: PushMessage) -> None:
    """Print the event and the object, with escapes: names may have line ends, and letters that no log has."""
    about = message.attributes
    print(about["eventType"], ascii(f"{about['bucketId']}/{about['objectId']}"), flush=True)


if "PUSH_AUDIENCE" in os.environ:
    app = receiver(
        show,
        os.environ["PUSH_AUDIENCE"],
        os.environ["PUSH_SERVICE_ACCOUNT"],
        os.environ.get("PUSH_CERTIFICATES_URL", GOOGLE.certificates_url),
    )
