import * as gcpx from "pulumi-gcpx";

const golden = new gcpx.compute.MachineImage("golden", {
    sourceInstance: "zones/us-east1-b/instances/example-vm",
    description: "The web server as it was released",
    storageLocations: ["us"],
    labels: {
        release: "2026-11",
    },
});

export const image = golden.selfLink;
