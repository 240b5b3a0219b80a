package main

import (
	"gcpx.dev/sdk/go/gcpx/pubsub"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		cfg := config.New(ctx, "")
		token := cfg.RequireSecret("token")
		verdict := pubsub.VerifyPushTokenOutput(ctx, pubsub.VerifyPushTokenOutputArgs{
			Token:               token,
			Audience:            pulumi.String("https://example.com/push"),
			ServiceAccountEmail: pulumi.String("pusher@demo-project.iam.gserviceaccount.com"),
		}, nil)
		ctx.Export("valid", verdict.Valid())
		return nil
	})
}
