import * as pulumi from "@pulumi/pulumi";
import * as gcpx from "pulumi-gcpx";

const config = new pulumi.Config();
const operation = config.require("operation");
const found = gcpx.compute.getOperationOutput({
    name: operation,
    zone: "us-east1-b",
});

export const status = found.status;
