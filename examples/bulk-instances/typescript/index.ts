import * as gcpx from "pulumi-gcpx";

const workers = new gcpx.compute.BulkInstances("workers", {
    region: "us-east1",
    count: 20,
    minCount: 10,
    namePattern: "worker-####",
    locationPolicy: {
        targetShape: "BALANCED",
    },
    instanceProperties: {
        machineType: "e2-small",
        disks: [{
            boot: true,
            autoDelete: true,
            initializeParams: {
                sourceImage: "projects/debian-cloud/global/images/family/debian-12",
            },
        }],
        networkInterfaces: [{
            network: "global/networks/default",
        }],
        labels: {
            role: "worker",
        },
    },
});

export const created = workers.memberCount;
export const running = workers.runningCount;
