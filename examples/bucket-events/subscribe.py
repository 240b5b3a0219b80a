"""Topic -> receiver: a topic, and a subscription that pushes with a signed token.

    python subscribe.py PROJECT ENDPOINT SERVICE_ACCOUNT_EMAIL

Whoever runs it may act as the service account (roles/iam.serviceAccountUser), and Pub/Sub's service agent may sign for
it (roles/iam.serviceAccountTokenCreator). With GCPX_EMULATOR_HOST set, both are made on the emulator.
"""

import os
import sys
from typing import Any

from google.auth.credentials import AnonymousCredentials
from google.pubsub_v1 import PublisherClient, SubscriberClient, types


def client(kind: Any) -> Any:
    """Make a client: of Google's Pub/Sub, or of the emulator's."""
    host = os.environ.get("GCPX_EMULATOR_HOST")
    if not host:
        return kind(transport="rest")
    transport = kind.get_transport_class("rest")
    return kind(transport=transport(host=host, url_scheme="http", credentials=AnonymousCredentials()))


def main(project: str, endpoint: str, account: str) -> None:
    """Make both; the token's audience is the endpoint, since no other is set."""
    topic, name = f"projects/{project}/topics/uploads", f"projects/{project}/subscriptions/uploads-push"
    client(PublisherClient).create_topic(name=topic)
    token = types.PushConfig.OidcToken(service_account_email=account)
    config = types.PushConfig(push_endpoint=endpoint, oidc_token=token)
    client(SubscriberClient).create_subscription(request={"name": name, "topic": topic, "push_config": config})
    print(f"{topic} -> {name} -> {endpoint}")


if __name__ == "__main__":
    main(*sys.argv[1:])
