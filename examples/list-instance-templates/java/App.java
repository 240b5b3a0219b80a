package listinstancetemplates;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import dev.gcpx.sdk.compute.ComputeFunctions;
import dev.gcpx.sdk.compute.inputs.ListInstanceTemplatesArgs;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
        final var small = ComputeFunctions.listInstanceTemplates(ListInstanceTemplatesArgs.builder()
            .filter("properties.machineType eq \"e2-.*\"")
            .orderBy("creationTimestamp desc")
            .build());

        ctx.export("newest", small.applyValue(result -> result.items().get(0).name()));
    }
}
