package aggregatedlistinstances;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import dev.gcpx.sdk.compute.ComputeFunctions;
import dev.gcpx.sdk.compute.inputs.AggregatedListInstancesArgs;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
        final var running = ComputeFunctions.aggregatedListInstances(AggregatedListInstancesArgs.builder()
            .filter("status = RUNNING")
            .returnPartialSuccess(true)
            .build());

        ctx.export("byScope", running.applyValue(result -> result.items()));
    }
}
