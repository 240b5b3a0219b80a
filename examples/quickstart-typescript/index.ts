// All six resources. They need a bucket, a topic, an instance and a disk that already exist.
import * as pulumi from "@pulumi/pulumi";
import * as gcpx from "pulumi-gcpx";

const config = new pulumi.Config();
const vm = "zones/us-east1-b/instances/example-vm";

const web = new gcpx.compute.InstanceTemplate("web", {
  properties: {
    machineType: config.get("machineType") ?? "e2-small",
    disks: [
      {
        boot: true,
        autoDelete: true,
        initializeParams: {
          sourceImage: "projects/debian-cloud/global/images/family/debian-12",
          diskSizeGb: 20,
        },
      },
    ],
    networkInterfaces: [{ network: "global/networks/default" }],
    labels: { app: "web" },
  },
});

const workers = new gcpx.compute.BulkInstances("workers", {
  region: "us-east1",
  count: config.getNumber("workers") ?? 20,
  namePattern: "worker-####",
  locationPolicy: { targetShape: "BALANCED" },
  instanceProperties: {
    machineType: "e2-micro",
    disks: [{ boot: true, autoDelete: true, initializeParams: { sourceImage: "family/debian-12" } }],
    networkInterfaces: [{ network: "global/networks/default" }],
  },
});

const golden = new gcpx.compute.MachineImage("golden", { sourceInstance: vm, storageLocations: ["us"] });

const data = new gcpx.compute.DiskAttachment(
  "data",
  { instance: vm, disk: "example-data", deviceName: "data" },
  { dependsOn: [golden] },
);

const uploads = new gcpx.storage.NotificationConfig("uploads", {
  bucket: "demo-uploads",
  topic: "uploads",
  eventTypes: ["OBJECT_FINALIZE"],
});

const laptop = new gcpx.oslogin.SshKey("laptop", {
  user: "operator@example.com",
  key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0gF6TLPrDwxF8fNKq2bwUKcGqxnzqRMxcbNKS1wR3g laptop",
  expirationTimeUsec: config.get("keyExpiry"),
});

export const template = web.name;
export const created = workers.memberCount;
export const image = golden.status;
export const device = data.deviceName;
export const notification = uploads.notificationId;
export const fingerprint = laptop.fingerprint;
