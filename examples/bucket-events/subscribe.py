"""Create a topic, and a subscription that pushes its messages with a signed token.

    python subscribe.py PROJECT ENDPOINT SERVICE_ACCOUNT_EMAIL

The caller needs roles/iam.serviceAccountUser on the service account, and Pub/Sub's service agent,
service-PROJECT_NUMBER@gcp-sa-pubsub.iam.gserviceaccount.com, needs roles/iam.serviceAccountTokenCreator. If
GCPX_EMULATOR_HOST is set, the emulator is called.
"""

import os
import sys
from typing import Any

from google.auth.credentials import AnonymousCredentials
from google.pubsub_v1 import PublisherClient, SubscriberClient, types


def client(kind: Any) -> Any:
    """Return a client of Pub/Sub, or of the emulator."""
    host = os.environ.get("GCPX_EMULATOR_HOST")
    if not host:
        return kind(transport="rest")
    transport = kind.get_transport_class("rest")
    return kind(transport=transport(host=host, url_scheme="http", credentials=AnonymousCredentials()))


def main(project: str, endpoint: str, account: str) -> None:
    """Create both. The audience of the token is the endpoint, because no other one is set."""
    topic, name = f"projects/{project}/topics/uploads", f"projects/{project}/subscriptions/uploads-push"
    client(PublisherClient).create_topic(name=topic)
    token = types.PushConfig.OidcToken(service_account_email=account)
    config = types.PushConfig(push_endpoint=endpoint, oidc_token=token)
    client(SubscriberClient).create_subscription(request={"name": name, "topic": topic, "push_config": config})
    print(f"{topic} -> {name} -> {endpoint}")


if __name__ == "__main__":
    main(*sys.argv[1:])
