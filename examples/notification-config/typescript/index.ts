import * as gcpx from "pulumi-gcpx";

const uploads = new gcpx.storage.NotificationConfig("uploads", {
    bucket: "example-uploads",
    topic: "projects/example-project/topics/uploads",
    eventTypes: ["OBJECT_FINALIZE"],
    objectNamePrefix: "incoming/",
    customAttributes: {
        source: "uploads",
    },
});

export const notification = uploads.notificationId;
