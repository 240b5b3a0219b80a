using System.Collections.Generic;
using Pulumi;
using Sdk = Gcpx.Sdk;

return await Deployment.RunAsync(() =>
{
    var uploads = new Sdk.Storage.NotificationConfig("uploads", new()
    {
        Bucket = "example-uploads",
        Topic = "projects/example-project/topics/uploads",
        EventTypes = new[]
        {
            "OBJECT_FINALIZE",
        },
        ObjectNamePrefix = "incoming/",
        CustomAttributes =
        {
            { "source", "uploads" },
        },
    });

    return new Dictionary<string, object?>
    {
        ["notification"] = uploads.NotificationId,
    };
});
