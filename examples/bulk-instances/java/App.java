package bulkinstances;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import dev.gcpx.sdk.compute.BulkInstances;
import dev.gcpx.sdk.compute.BulkInstancesArgs;
import dev.gcpx.sdk.compute.inputs.AttachedDiskArgs;
import dev.gcpx.sdk.compute.inputs.AttachedDiskInitializeParamsArgs;
import dev.gcpx.sdk.compute.inputs.InstancePropertiesArgs;
import dev.gcpx.sdk.compute.inputs.LocationPolicyArgs;
import dev.gcpx.sdk.compute.inputs.NetworkInterfaceArgs;
import java.util.Map;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
        var workers = new BulkInstances("workers", BulkInstancesArgs.builder()
            .region("us-east1")
            .count(20)
            .minCount(10)
            .namePattern("worker-####")
            .locationPolicy(LocationPolicyArgs.builder()
                .targetShape("BALANCED")
                .build())
            .instanceProperties(InstancePropertiesArgs.builder()
                .machineType("e2-small")
                .disks(AttachedDiskArgs.builder()
                    .boot(true)
                    .autoDelete(true)
                    .initializeParams(AttachedDiskInitializeParamsArgs.builder()
                        .sourceImage("projects/debian-cloud/global/images/family/debian-12")
                        .build())
                    .build())
                .networkInterfaces(NetworkInterfaceArgs.builder()
                    .network("global/networks/default")
                    .build())
                .labels(Map.of("role", "worker"))
                .build())
            .build());

        ctx.export("created", workers.memberCount());
        ctx.export("running", workers.runningCount());
    }
}
