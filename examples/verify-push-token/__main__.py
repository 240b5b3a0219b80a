"""Whether a push receiver would accept a token."""

import pulumi
import pulumi_gcpx as gcpx

config = pulumi.Config()
token = config.require_secret("token")
verdict = gcpx.pubsub.verify_push_token_output(
    token=token,
    audience="https://example.com/push",
    service_account_email="pusher@demo-project.iam.gserviceaccount.com",
)

pulumi.export("valid", verdict.valid)
