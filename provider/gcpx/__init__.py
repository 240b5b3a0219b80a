"""A Pulumi provider for Google Cloud: fleets of VMs, templates, machine images, disks, notifications, SSH keys."""

__version__ = "0.1.0"
