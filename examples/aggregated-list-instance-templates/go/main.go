package main

import (
	"gcpx.dev/sdk/go/gcpx/compute"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		templates := compute.AggregatedListInstanceTemplatesOutput(ctx, compute.AggregatedListInstanceTemplatesOutputArgs{
			ItemFields: pulumi.StringArray{
				pulumi.String("name"),
				pulumi.String("region"),
			},
		}, nil)
		ctx.Export("byScope", templates.Items())
		return nil
	})
}
