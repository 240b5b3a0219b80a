using System.Collections.Generic;
using Pulumi;
using Sdk = Gcpx.Sdk;

return await Deployment.RunAsync(() =>
{
    var running = Sdk.Compute.AggregatedListInstances.Invoke(new()
    {
        Filter = "status = RUNNING",
        ReturnPartialSuccess = true,
    });

    return new Dictionary<string, object?>
    {
        ["byScope"] = running.Apply(result => result.Items),
    };
});
