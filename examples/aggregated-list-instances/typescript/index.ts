import * as gcpx from "pulumi-gcpx";

const running = gcpx.compute.aggregatedListInstancesOutput({
    filter: "status = RUNNING",
    returnPartialSuccess: true,
});

export const byScope = running.items;
