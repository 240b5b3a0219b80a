package verifypushtoken;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import dev.gcpx.sdk.pubsub.PubsubFunctions;
import dev.gcpx.sdk.pubsub.inputs.VerifyPushTokenArgs;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
        final var config = ctx.config();
        final var token = config.requireSecret("token");
        final var verdict = PubsubFunctions.verifyPushToken(VerifyPushTokenArgs.builder()
            .token(token)
            .audience("https://example.com/push")
            .serviceAccountEmail("pusher@demo-project.iam.gserviceaccount.com")
            .build());

        ctx.export("valid", verdict.applyValue(result -> result.valid()));
    }
}
