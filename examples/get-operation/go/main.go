package main

import (
	"gcpx.dev/sdk/go/gcpx/compute"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		cfg := config.New(ctx, "")
		operation := cfg.Require("operation")
		found := compute.GetOperationOutput(ctx, compute.GetOperationOutputArgs{
			Name: pulumi.String(operation),
			Zone: pulumi.String("us-east1-b"),
		}, nil)
		ctx.Export("status", found.Status())
		return nil
	})
}
