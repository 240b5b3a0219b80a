import * as pulumi from "@pulumi/pulumi";
import * as gcpx from "pulumi-gcpx";

const config = new pulumi.Config();
const token = config.requireSecret("token");
const verdict = gcpx.pubsub.verifyPushTokenOutput({
    token: token,
    audience: "https://example.com/push",
    serviceAccountEmail: "pusher@demo-project.iam.gserviceaccount.com",
});

export const valid = verdict.valid;
