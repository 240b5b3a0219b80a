package main

import (
	"gcpx.dev/sdk/go/gcpx/compute"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		running := compute.AggregatedListInstancesOutput(ctx, compute.AggregatedListInstancesOutputArgs{
			Filter:               pulumi.String("status = RUNNING"),
			ReturnPartialSuccess: pulumi.Bool(true),
		}, nil)
		ctx.Export("byScope", running.Items())
		return nil
	})
}
