package machineimage;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import dev.gcpx.sdk.compute.MachineImage;
import dev.gcpx.sdk.compute.MachineImageArgs;
import java.util.Map;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
        var golden = new MachineImage("golden", MachineImageArgs.builder()
            .sourceInstance("zones/us-east1-b/instances/example-vm")
            .description("The web server as it was released")
            .storageLocations("us")
            .labels(Map.of("release", "2026-11"))
            .build());

        ctx.export("image", golden.selfLink());
    }
}
