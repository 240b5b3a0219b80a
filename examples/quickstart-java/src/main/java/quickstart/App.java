package quickstart;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import com.pulumi.resources.CustomResourceOptions;
import dev.gcpx.sdk.compute.BulkInstances;
import dev.gcpx.sdk.compute.BulkInstancesArgs;
import dev.gcpx.sdk.compute.DiskAttachment;
import dev.gcpx.sdk.compute.DiskAttachmentArgs;
import dev.gcpx.sdk.compute.InstanceTemplate;
import dev.gcpx.sdk.compute.InstanceTemplateArgs;
import dev.gcpx.sdk.compute.MachineImage;
import dev.gcpx.sdk.compute.MachineImageArgs;
import dev.gcpx.sdk.compute.inputs.AttachedDiskArgs;
import dev.gcpx.sdk.compute.inputs.AttachedDiskInitializeParamsArgs;
import dev.gcpx.sdk.compute.inputs.InstancePropertiesArgs;
import dev.gcpx.sdk.compute.inputs.LocationPolicyArgs;
import dev.gcpx.sdk.compute.inputs.NetworkInterfaceArgs;
import dev.gcpx.sdk.oslogin.SshKey;
import dev.gcpx.sdk.oslogin.SshKeyArgs;
import dev.gcpx.sdk.storage.NotificationConfig;
import dev.gcpx.sdk.storage.NotificationConfigArgs;
import java.util.Map;

/** All six resources. They need a bucket, a topic, an instance and a disk that already exist. */
public class App {
    private static final String VM = "zones/us-east1-b/instances/example-vm";
    private static final NetworkInterfaceArgs NETWORK =
        NetworkInterfaceArgs.builder().network("global/networks/default").build();

    public static void main(String[] args) {
        Pulumi.run(App::deploy);
    }

    private static void deploy(Context ctx) {
        var config = ctx.config();

        var web = new InstanceTemplate("web", InstanceTemplateArgs.builder()
            .properties(InstancePropertiesArgs.builder()
                .machineType(config.get("machineType").orElse("e2-small"))
                .disks(AttachedDiskArgs.builder()
                    .boot(true)
                    .autoDelete(true)
                    .initializeParams(AttachedDiskInitializeParamsArgs.builder()
                        .sourceImage("projects/debian-cloud/global/images/family/debian-12")
                        .diskSizeGb(20)
                        .build())
                    .build())
                .networkInterfaces(NETWORK)
                .labels(Map.of("app", "web"))
                .build())
            .build());

        var workers = new BulkInstances("workers", BulkInstancesArgs.builder()
            .region("us-east1")
            .count(config.getInteger("workers").orElse(20))
            .namePattern("worker-####")
            .locationPolicy(LocationPolicyArgs.builder().targetShape("BALANCED").build())
            .instanceProperties(InstancePropertiesArgs.builder()
                .machineType("e2-micro")
                .disks(AttachedDiskArgs.builder()
                    .boot(true)
                    .autoDelete(true)
                    .initializeParams(AttachedDiskInitializeParamsArgs.builder()
                        .sourceImage("family/debian-12")
                        .build())
                    .build())
                .networkInterfaces(NETWORK)
                .build())
            .build());

        var golden = new MachineImage("golden", MachineImageArgs.builder()
            .sourceInstance(VM)
            .storageLocations("us")
            .build());

        var data = new DiskAttachment("data", DiskAttachmentArgs.builder()
            .instance(VM)
            .disk("example-data")
            .deviceName("data")
            .build(), CustomResourceOptions.builder().dependsOn(golden).build());

        var uploads = new NotificationConfig("uploads", NotificationConfigArgs.builder()
            .bucket("demo-uploads")
            .topic("uploads")
            .eventTypes("OBJECT_FINALIZE")
            .build());

        var key = SshKeyArgs.builder()
            .user("operator@example.com")
            .key("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0gF6TLPrDwxF8fNKq2bwUKcGqxnzqRMxcbNKS1wR3g laptop");
        config.get("keyExpiry").ifPresent(key::expirationTimeUsec);
        var laptop = new SshKey("laptop", key.build());

        ctx.export("template", web.name());
        ctx.export("workers", workers.memberCount());
        ctx.export("image", golden.status());
        ctx.export("device", data.deviceName());
        ctx.export("notification", uploads.notificationId());
        ctx.export("fingerprint", laptop.fingerprint());
    }
}
