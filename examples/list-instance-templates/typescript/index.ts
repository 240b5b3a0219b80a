import * as gcpx from "pulumi-gcpx";

const small = gcpx.compute.listInstanceTemplatesOutput({
    filter: "properties.machineType eq \"e2-.*\"",
    orderBy: "creationTimestamp desc",
});

export const newest = small.items[0].name;
