using System.Collections.Generic;
using Pulumi;
using Sdk = Gcpx.Sdk;

return await Deployment.RunAsync(() =>
{
    var small = Sdk.Compute.ListInstanceTemplates.Invoke(new()
    {
        Filter = "properties.machineType eq \"e2-.*\"",
        OrderBy = "creationTimestamp desc",
    });

    return new Dictionary<string, object?>
    {
        ["newest"] = small.Apply(result => result.Items[0].Name),
    };
});
