import * as pulumi from "@pulumi/pulumi";
import * as gcpx from "pulumi-gcpx";

const config = new pulumi.Config();
const token = config.requireSecret("token");
const claims = gcpx.oauth2.getTokenInfoOutput({
    idToken: token,
});

export const account = claims.email;
