using System.Collections.Generic;
using Pulumi;
using Sdk = Gcpx.Sdk;

return await Deployment.RunAsync(() =>
{
    var config = new Config();
    var operation = config.Require("operation");
    var found = Sdk.Compute.GetOperation.Invoke(new()
    {
        Name = operation,
        Zone = "us-east1-b",
    });

    return new Dictionary<string, object?>
    {
        ["status"] = found.Apply(result => result.Status),
    };
});
