using System.Collections.Generic;
using Pulumi;
using Sdk = Gcpx.Sdk;

return await Deployment.RunAsync(() =>
{
    var templates = Sdk.Compute.AggregatedListInstanceTemplates.Invoke(new()
    {
        ItemFields = new[]
        {
            "name",
            "region",
        },
    });

    return new Dictionary<string, object?>
    {
        ["byScope"] = templates.Apply(result => result.Items),
    };
});
