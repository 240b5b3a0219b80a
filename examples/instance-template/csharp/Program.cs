using System.Collections.Generic;
using Pulumi;
using Sdk = Gcpx.Sdk;

return await Deployment.RunAsync(() =>
{
    var web = new Sdk.Compute.InstanceTemplate("web", new()
    {
        Description = "Small web servers",
        Properties = new Sdk.Compute.Inputs.InstancePropertiesArgs
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
                        DiskSizeGb = 20,
                        DiskType = "pd-balanced",
                    },
                },
            },
            NetworkInterfaces = new[]
            {
                new Sdk.Compute.Inputs.NetworkInterfaceArgs
                {
                    Network = "global/networks/default",
                    AccessConfigs = new[]
                    {
                        new Sdk.Compute.Inputs.AccessConfigArgs
                        {
                            NetworkTier = "PREMIUM",
                        },
                    },
                },
            },
            Labels =
            {
                { "app", "web" },
            },
            Metadata = new Sdk.Compute.Inputs.MetadataArgs
            {
                Items = new[]
                {
                    new Sdk.Compute.Inputs.MetadataItemArgs
                    {
                        Key = "enable-oslogin",
                        Value = "TRUE",
                    },
                },
            },
        },
    });

    return new Dictionary<string, object?>
    {
        ["template"] = web.SelfLinkUnique,
    };
});
