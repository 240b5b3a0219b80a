package main

import (
	"gcpx.dev/sdk/go/gcpx/oauth2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		cfg := config.New(ctx, "")
		token := cfg.RequireSecret("token")
		claims := oauth2.GetTokenInfoOutput(ctx, oauth2.GetTokenInfoOutputArgs{
			IdToken: token,
		}, nil)
		ctx.Export("account", claims.Email())
		return nil
	})
}
