using System.Collections.Generic;
using Pulumi;
using Sdk = Gcpx.Sdk;

return await Deployment.RunAsync(() =>
{
    var laptop = new Sdk.OSLogin.SshKey("laptop", new()
    {
        User = "operator@example.com",
        Key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0gF6TLPrDwxF8fNKq2bwUKcGqxnzqRMxcbNKS1wR3g laptop",
        ExpirationTimeUsec = "1924991999000000",
    });

    return new Dictionary<string, object?>
    {
        ["fingerprint"] = laptop.Fingerprint,
    };
});
