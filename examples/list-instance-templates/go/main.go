package main

import (
	"gcpx.dev/sdk/go/gcpx/compute"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		small := compute.ListInstanceTemplatesOutput(ctx, compute.ListInstanceTemplatesOutputArgs{
			Filter:  pulumi.String("properties.machineType eq \"e2-.*\""),
			OrderBy: pulumi.String("creationTimestamp desc"),
		}, nil)
		ctx.Export("newest", small.ApplyT(func(small compute.ListInstanceTemplatesResult) (string, error) {
			return small.Items[0].Name, nil
		}).(pulumi.StringOutput))
		return nil
	})
}
