package listregions;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import dev.gcpx.sdk.compute.ComputeFunctions;
import dev.gcpx.sdk.compute.inputs.ListRegionsArgs;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
        final var regions = ComputeFunctions.listRegions(ListRegionsArgs.builder()
            .filter("status = UP")
            .omitQuotas(true)
            .build());

        ctx.export("first", regions.applyValue(result -> result.items().get(0).name()));
    }
}
