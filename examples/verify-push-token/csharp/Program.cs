using System.Collections.Generic;
using Pulumi;
using Sdk = Gcpx.Sdk;

return await Deployment.RunAsync(() =>
{
    var config = new Config();
    var token = config.RequireSecret("token");
    var verdict = Sdk.PubSub.VerifyPushToken.Invoke(new()
    {
        Token = token,
        Audience = "https://example.com/push",
        ServiceAccountEmail = "pusher@demo-project.iam.gserviceaccount.com",
    });

    return new Dictionary<string, object?>
    {
        ["valid"] = verdict.Apply(result => result.Valid),
    };
});
