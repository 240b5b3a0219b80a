import * as gcpx from "pulumi-gcpx";

const data = new gcpx.compute.DiskAttachment("data", {
    instance: "zones/us-east1-b/instances/example-vm",
    disk: "example-data",
    deviceName: "data",
    autoDelete: false,
});

export const device = data.deviceName;
