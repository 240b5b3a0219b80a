using System.Collections.Generic;
using Pulumi;
using Sdk = Gcpx.Sdk;

return await Deployment.RunAsync(() =>
{
    var data = new Sdk.Compute.DiskAttachment("data", new()
    {
        Instance = "zones/us-east1-b/instances/example-vm",
        Disk = "example-data",
        DeviceName = "data",
        AutoDelete = false,
    });

    return new Dictionary<string, object?>
    {
        ["device"] = data.DeviceName,
    };
});
