package main

import (
	"gcpx.dev/sdk/go/gcpx/storage"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		uploads, err := storage.NewNotificationConfig(ctx, "uploads", &storage.NotificationConfigArgs{
			Bucket: pulumi.String("example-uploads"),
			Topic:  pulumi.String("projects/example-project/topics/uploads"),
			EventTypes: pulumi.StringArray{
				pulumi.String("OBJECT_FINALIZE"),
			},
			ObjectNamePrefix: pulumi.String("incoming/"),
			CustomAttributes: pulumi.StringMap{
				"source": pulumi.String("uploads"),
			},
		})
		if err != nil {
			return err
		}
		ctx.Export("notification", uploads.NotificationId)
		return nil
	})
}
