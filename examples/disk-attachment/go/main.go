package main

import (
	"gcpx.dev/sdk/go/gcpx/compute"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		data, err := compute.NewDiskAttachment(ctx, "data", &compute.DiskAttachmentArgs{
			Instance:   pulumi.String("zones/us-east1-b/instances/example-vm"),
			Disk:       pulumi.String("example-data"),
			DeviceName: pulumi.String("data"),
			AutoDelete: pulumi.Bool(false),
		})
		if err != nil {
			return err
		}
		ctx.Export("device", data.DeviceName)
		return nil
	})
}
