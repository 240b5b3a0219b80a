package getoperation;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import dev.gcpx.sdk.compute.ComputeFunctions;
import dev.gcpx.sdk.compute.inputs.GetOperationArgs;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
        final var config = ctx.config();
        final var operation = config.require("operation");
        final var found = ComputeFunctions.getOperation(GetOperationArgs.builder()
            .name(operation)
            .zone("us-east1-b")
            .build());

        ctx.export("status", found.applyValue(result -> result.status()));
    }
}
