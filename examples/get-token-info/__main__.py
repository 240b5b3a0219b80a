"""The account that an ID token was issued to."""

import pulumi
import pulumi_gcpx as gcpx

config = pulumi.Config()
token = config.require_secret("token")
claims = gcpx.oauth2.get_token_info_output(id_token=token)

pulumi.export("account", claims.email)
