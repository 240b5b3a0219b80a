// All six resources. They need a bucket, a topic, an instance and a disk that already exist.
package main

import (
	"gcpx.dev/sdk/go/gcpx/compute"
	"gcpx.dev/sdk/go/gcpx/oslogin"
	"gcpx.dev/sdk/go/gcpx/storage"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

const vm = "zones/us-east1-b/instances/example-vm"

func main() {
	pulumi.Run(deploy)
}

func deploy(ctx *pulumi.Context) error {
	settings := config.New(ctx, "")

	machineType := settings.Get("machineType")
	if machineType == "" {
		machineType = "e2-small"
	}
	web, err := compute.NewInstanceTemplate(ctx, "web", &compute.InstanceTemplateArgs{
		Properties: compute.InstancePropertiesArgs{
			MachineType: pulumi.String(machineType),
			Disks: compute.AttachedDiskArray{compute.AttachedDiskArgs{
				Boot:       pulumi.Bool(true),
				AutoDelete: pulumi.Bool(true),
				InitializeParams: compute.AttachedDiskInitializeParamsArgs{
					SourceImage: pulumi.String("projects/debian-cloud/global/images/family/debian-12"),
					DiskSizeGb:  pulumi.Int(20),
				},
			}},
			NetworkInterfaces: defaultNetwork(),
			Labels:            pulumi.StringMap{"app": pulumi.String("web")},
		},
	})
	if err != nil {
		return err
	}

	count, err := settings.TryInt("workers")
	if err != nil {
		count = 20
	}
	workers, err := compute.NewBulkInstances(ctx, "workers", &compute.BulkInstancesArgs{
		Region:         pulumi.String("us-east1"),
		Count:          pulumi.Int(count),
		NamePattern:    pulumi.String("worker-####"),
		LocationPolicy: compute.LocationPolicyArgs{TargetShape: pulumi.String("BALANCED")},
		InstanceProperties: compute.InstancePropertiesArgs{
			MachineType: pulumi.String("e2-micro"),
			Disks: compute.AttachedDiskArray{compute.AttachedDiskArgs{
				Boot:       pulumi.Bool(true),
				AutoDelete: pulumi.Bool(true),
				InitializeParams: compute.AttachedDiskInitializeParamsArgs{
					SourceImage: pulumi.String("family/debian-12"),
				},
			}},
			NetworkInterfaces: defaultNetwork(),
		},
	})
	if err != nil {
		return err
	}

	golden, err := compute.NewMachineImage(ctx, "golden", &compute.MachineImageArgs{
		SourceInstance:   pulumi.String(vm),
		StorageLocations: pulumi.StringArray{pulumi.String("us")},
	})
	if err != nil {
		return err
	}

	data, err := compute.NewDiskAttachment(ctx, "data", &compute.DiskAttachmentArgs{
		Instance:   pulumi.String(vm),
		Disk:       pulumi.String("example-data"),
		DeviceName: pulumi.String("data"),
	}, pulumi.DependsOn([]pulumi.Resource{golden}))
	if err != nil {
		return err
	}

	uploads, err := storage.NewNotificationConfig(ctx, "uploads", &storage.NotificationConfigArgs{
		Bucket:     pulumi.String("demo-uploads"),
		Topic:      pulumi.String("uploads"),
		EventTypes: pulumi.StringArray{pulumi.String("OBJECT_FINALIZE")},
	})
	if err != nil {
		return err
	}

	laptop, err := oslogin.NewSshKey(ctx, "laptop", sshKey(settings))
	if err != nil {
		return err
	}

	ctx.Export("template", web.Name)
	ctx.Export("workers", workers.MemberCount)
	ctx.Export("image", golden.Status)
	ctx.Export("device", data.DeviceName)
	ctx.Export("notification", uploads.NotificationId)
	ctx.Export("fingerprint", laptop.Fingerprint)
	return nil
}

func defaultNetwork() compute.NetworkInterfaceArray {
	return compute.NetworkInterfaceArray{compute.NetworkInterfaceArgs{Network: pulumi.String("global/networks/default")}}
}

func sshKey(settings *config.Config) *oslogin.SshKeyArgs {
	args := &oslogin.SshKeyArgs{
		User: pulumi.String("operator@example.com"),
		Key:  pulumi.String("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0gF6TLPrDwxF8fNKq2bwUKcGqxnzqRMxcbNKS1wR3g laptop"),
	}
	if expiry := settings.Get("keyExpiry"); expiry != "" {
		args.ExpirationTimeUsec = pulumi.String(expiry)
	}
	return args
}
