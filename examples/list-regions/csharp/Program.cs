using System.Collections.Generic;
using Pulumi;
using Sdk = Gcpx.Sdk;

return await Deployment.RunAsync(() =>
{
    var regions = Sdk.Compute.ListRegions.Invoke(new()
    {
        Filter = "status = UP",
        OmitQuotas = true,
    });

    return new Dictionary<string, object?>
    {
        ["first"] = regions.Apply(result => result.Items[0].Name),
    };
});
