using System.Collections.Generic;
using Pulumi;
using Sdk = Gcpx.Sdk;

return await Deployment.RunAsync(() =>
{
    var config = new Config();
    var token = config.RequireSecret("token");
    var claims = Sdk.OAuth2.GetTokenInfo.Invoke(new()
    {
        IdToken = token,
    });

    return new Dictionary<string, object?>
    {
        ["account"] = claims.Apply(result => result.Email),
    };
});
