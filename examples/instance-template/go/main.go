package main

import (
	"gcpx.dev/sdk/go/gcpx/compute"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		web, err := compute.NewInstanceTemplate(ctx, "web", &compute.InstanceTemplateArgs{
			Description: pulumi.String("Small web servers"),
			Properties: &compute.InstancePropertiesArgs{
				MachineType: pulumi.String("e2-small"),
				Disks: compute.AttachedDiskArray{
					&compute.AttachedDiskArgs{
						Boot:       pulumi.Bool(true),
						AutoDelete: pulumi.Bool(true),
						InitializeParams: &compute.AttachedDiskInitializeParamsArgs{
							SourceImage: pulumi.String("projects/debian-cloud/global/images/family/debian-12"),
							DiskSizeGb:  pulumi.Int(20),
							DiskType:    pulumi.String("pd-balanced"),
						},
					},
				},
				NetworkInterfaces: compute.NetworkInterfaceArray{
					&compute.NetworkInterfaceArgs{
						Network: pulumi.String("global/networks/default"),
						AccessConfigs: compute.AccessConfigArray{
							&compute.AccessConfigArgs{
								NetworkTier: pulumi.String("PREMIUM"),
							},
						},
					},
				},
				Labels: pulumi.StringMap{
					"app": pulumi.String("web"),
				},
				Metadata: &compute.MetadataArgs{
					Items: compute.MetadataItemArray{
						&compute.MetadataItemArgs{
							Key:   pulumi.String("enable-oslogin"),
							Value: pulumi.String("TRUE"),
						},
					},
				},
			},
		})
		if err != nil {
			return err
		}
		ctx.Export("template", web.SelfLinkUnique)
		return nil
	})
}
