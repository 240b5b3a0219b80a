package main

import (
	"gcpx.dev/sdk/go/gcpx/compute"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		golden, err := compute.NewMachineImage(ctx, "golden", &compute.MachineImageArgs{
			SourceInstance: pulumi.String("zones/us-east1-b/instances/example-vm"),
			Description:    pulumi.String("The web server as it was released"),
			StorageLocations: pulumi.StringArray{
				pulumi.String("us"),
			},
			Labels: pulumi.StringMap{
				"release": pulumi.String("2026-11"),
			},
		})
		if err != nil {
			return err
		}
		ctx.Export("image", golden.SelfLink)
		return nil
	})
}
