package notificationconfig;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import dev.gcpx.sdk.storage.NotificationConfig;
import dev.gcpx.sdk.storage.NotificationConfigArgs;
import java.util.Map;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
        var uploads = new NotificationConfig("uploads", NotificationConfigArgs.builder()
            .bucket("example-uploads")
            .topic("projects/example-project/topics/uploads")
            .eventTypes("OBJECT_FINALIZE")
            .objectNamePrefix("incoming/")
            .customAttributes(Map.of("source", "uploads"))
            .build());

        ctx.export("notification", uploads.notificationId());
    }
}
