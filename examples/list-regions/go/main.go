package main

import (
	"gcpx.dev/sdk/go/gcpx/compute"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		regions := compute.ListRegionsOutput(ctx, compute.ListRegionsOutputArgs{
			Filter:     pulumi.String("status = UP"),
			OmitQuotas: pulumi.Bool(true),
		}, nil)
		ctx.Export("first", regions.ApplyT(func(regions compute.ListRegionsResult) (string, error) {
			return regions.Items[0].Name, nil
		}).(pulumi.StringOutput))
		return nil
	})
}
