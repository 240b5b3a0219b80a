using System.Collections.Generic;
using Pulumi;
using Sdk = Gcpx.Sdk;

return await Deployment.RunAsync(() =>
{
    var workers = new Sdk.Compute.BulkInstances("workers", new()
    {
        Region = "us-east1",
        Count = 20,
        MinCount = 10,
        NamePattern = "worker-####",
        LocationPolicy = new Sdk.Compute.Inputs.LocationPolicyArgs
        {
            TargetShape = "BALANCED",
        },
        InstanceProperties = new Sdk.Compute.Inputs.InstancePropertiesArgs
        {
            MachineType = "e2-small",
            Disks = new[]
            {
                new Sdk.Compute.Inputs.AttachedDiskArgs
                {
                    Boot = true,
                    AutoDelete = true,
                    InitializeParams = new Sdk.Compute.Inputs.AttachedDiskInitializeParamsArgs
                    {
                        SourceImage = "projects/debian-cloud/global/images/family/debian-12",
                    },
                },
            },
            NetworkInterfaces = new[]
            {
                new Sdk.Compute.Inputs.NetworkInterfaceArgs
                {
                    Network = "global/networks/default",
                },
            },
            Labels =
            {
                { "role", "worker" },
            },
        },
    });

    return new Dictionary<string, object?>
    {
        ["created"] = workers.MemberCount,
        ["running"] = workers.RunningCount,
    };
});
