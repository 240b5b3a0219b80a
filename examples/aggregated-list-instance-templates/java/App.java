package aggregatedlistinstancetemplates;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import dev.gcpx.sdk.compute.ComputeFunctions;
import dev.gcpx.sdk.compute.inputs.AggregatedListInstanceTemplatesArgs;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
        final var templates = ComputeFunctions.aggregatedListInstanceTemplates(AggregatedListInstanceTemplatesArgs.builder()
            .itemFields("name", "region")
            .build());

        ctx.export("byScope", templates.applyValue(result -> result.items()));
    }
}
