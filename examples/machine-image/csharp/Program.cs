using System.Collections.Generic;
using Pulumi;
using Sdk = Gcpx.Sdk;

return await Deployment.RunAsync(() =>
{
    var golden = new Sdk.Compute.MachineImage("golden", new()
    {
        SourceInstance = "zones/us-east1-b/instances/example-vm",
        Description = "The web server as it was released",
        StorageLocations = new[]
        {
            "us",
        },
        Labels =
        {
            { "release", "2026-11" },
        },
    });

    return new Dictionary<string, object?>
    {
        ["image"] = golden.SelfLink,
    };
});
