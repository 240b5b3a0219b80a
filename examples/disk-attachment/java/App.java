package diskattachment;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import dev.gcpx.sdk.compute.DiskAttachment;
import dev.gcpx.sdk.compute.DiskAttachmentArgs;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
        var data = new DiskAttachment("data", DiskAttachmentArgs.builder()
            .instance("zones/us-east1-b/instances/example-vm")
            .disk("example-data")
            .deviceName("data")
            .autoDelete(false)
            .build());

        ctx.export("device", data.deviceName());
    }
}
