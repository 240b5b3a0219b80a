package main

import (
	"gcpx.dev/sdk/go/gcpx/oslogin"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		laptop, err := oslogin.NewSshKey(ctx, "laptop", &oslogin.SshKeyArgs{
			User:               pulumi.String("operator@example.com"),
			Key:                pulumi.String("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0gF6TLPrDwxF8fNKq2bwUKcGqxnzqRMxcbNKS1wR3g laptop"),
			ExpirationTimeUsec: pulumi.String("1924991999000000"),
		})
		if err != nil {
			return err
		}
		ctx.Export("fingerprint", laptop.Fingerprint)
		return nil
	})
}
