package main

import (
	"gcpx.dev/sdk/go/gcpx/compute"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		workers, err := compute.NewBulkInstances(ctx, "workers", &compute.BulkInstancesArgs{
			Region:      pulumi.String("us-east1"),
			Count:       pulumi.Int(20),
			MinCount:    pulumi.Int(10),
			NamePattern: pulumi.String("worker-####"),
			LocationPolicy: &compute.LocationPolicyArgs{
				TargetShape: pulumi.String("BALANCED"),
			},
			InstanceProperties: &compute.InstancePropertiesArgs{
				MachineType: pulumi.String("e2-small"),
				Disks: compute.AttachedDiskArray{
					&compute.AttachedDiskArgs{
						Boot:       pulumi.Bool(true),
						AutoDelete: pulumi.Bool(true),
						InitializeParams: &compute.AttachedDiskInitializeParamsArgs{
							SourceImage: pulumi.String("projects/debian-cloud/global/images/family/debian-12"),
						},
					},
				},
				NetworkInterfaces: compute.NetworkInterfaceArray{
					&compute.NetworkInterfaceArgs{
						Network: pulumi.String("global/networks/default"),
					},
				},
				Labels: pulumi.StringMap{
					"role": pulumi.String("worker"),
				},
			},
		})
		if err != nil {
			return err
		}
		ctx.Export("created", workers.MemberCount)
		ctx.Export("running", workers.RunningCount)
		return nil
	})
}
