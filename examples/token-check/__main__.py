"""The token of a push: what Google says about it, and whether a receiver would accept it."""

import pulumi
import pulumi_gcpx as gcpx

config = pulumi.Config()
token = config.require_secret("token")

said = gcpx.oauth2.get_token_info_output(id_token=token)
pulumi.export("account", said.email)

verdict = gcpx.pubsub.verify_push_token_output(
    token=token, audience=config.require("audience"), service_account_email=config.require("serviceAccountEmail")
)
pulumi.export("verdict", verdict.apply(lambda found: "good" if found.valid else found.reason))
