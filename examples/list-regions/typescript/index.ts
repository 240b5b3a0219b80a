import * as gcpx from "pulumi-gcpx";

const regions = gcpx.compute.listRegionsOutput({
    filter: "status = UP",
    omitQuotas: true,
});

export const first = regions.items[0].name;
