import * as gcpx from "pulumi-gcpx";

const templates = gcpx.compute.aggregatedListInstanceTemplatesOutput({
    itemFields: [
        "name",
        "region",
    ],
});

export const byScope = templates.items;
