import * as gcpx from "pulumi-gcpx";

const web = new gcpx.compute.InstanceTemplate("web", {
    description: "Small web servers",
    properties: {
        machineType: "e2-small",
        disks: [{
            boot: true,
            autoDelete: true,
            initializeParams: {
                sourceImage: "projects/debian-cloud/global/images/family/debian-12",
                diskSizeGb: 20,
                diskType: "pd-balanced",
            },
        }],
        networkInterfaces: [{
            network: "global/networks/default",
            accessConfigs: [{
                networkTier: "PREMIUM",
            }],
        }],
        labels: {
            app: "web",
        },
        metadata: {
            items: [{
                key: "enable-oslogin",
                value: "TRUE",
            }],
        },
    },
});

export const template = web.selfLinkUnique;
