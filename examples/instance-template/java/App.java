package instancetemplate;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import dev.gcpx.sdk.compute.InstanceTemplate;
import dev.gcpx.sdk.compute.InstanceTemplateArgs;
import dev.gcpx.sdk.compute.inputs.AccessConfigArgs;
import dev.gcpx.sdk.compute.inputs.AttachedDiskArgs;
import dev.gcpx.sdk.compute.inputs.AttachedDiskInitializeParamsArgs;
import dev.gcpx.sdk.compute.inputs.InstancePropertiesArgs;
import dev.gcpx.sdk.compute.inputs.MetadataArgs;
import dev.gcpx.sdk.compute.inputs.MetadataItemArgs;
import dev.gcpx.sdk.compute.inputs.NetworkInterfaceArgs;
import java.util.Map;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
        var web = new InstanceTemplate("web", InstanceTemplateArgs.builder()
            .description("Small web servers")
            .properties(InstancePropertiesArgs.builder()
                .machineType("e2-small")
                .disks(AttachedDiskArgs.builder()
                    .boot(true)
                    .autoDelete(true)
                    .initializeParams(AttachedDiskInitializeParamsArgs.builder()
                        .sourceImage("projects/debian-cloud/global/images/family/debian-12")
                        .diskSizeGb(20)
                        .diskType("pd-balanced")
                        .build())
                    .build())
                .networkInterfaces(NetworkInterfaceArgs.builder()
                    .network("global/networks/default")
                    .accessConfigs(AccessConfigArgs.builder()
                        .networkTier("PREMIUM")
                        .build())
                    .build())
                .labels(Map.of("app", "web"))
                .metadata(MetadataArgs.builder()
                    .items(MetadataItemArgs.builder()
                        .key("enable-oslogin")
                        .value("TRUE")
                        .build())
                    .build())
                .build())
            .build());

        ctx.export("template", web.selfLinkUnique());
    }
}
