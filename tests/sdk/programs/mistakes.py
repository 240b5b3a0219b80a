"""Wrong programs: each line that a type checker has to report ends in a comment that says what is wrong."""

import pulumi_gcpx as gcpx

import pulumi

compute = gcpx.compute
text = pulumi.Output.from_input("text")

compute.InstanceTemplate("a", properties={"machine_typ": "e2-small"})  # wrong: a typo in a key
compute.InstanceTemplate("a", properties={"machineType": "e2-small"})  # wrong: the name of another language
compute.InstanceTemplate("a", properties={"disks": [{"boot": True, "auto_delet": True}]})  # wrong: a typo in a list
compute.InstanceTemplate("a", properties={"disks": [{"initialize_params": {"image": "i"}}]})  # wrong: the same deeper
compute.BulkInstances("a", fallbacks=[{"zone": ["us-east1-c"]}])  # wrong: a typo in a list of dicts
compute.BulkInstances("a", per_instance_properties={"web-a": {"host": "h"}})  # wrong: a typo in a map of dicts
compute.InstanceTemplate("a", properties={"machine_type": 5})  # wrong: a number for a string
compute.InstanceTemplate("a", properties={"disks": [{"boot": "yes"}]})  # wrong: a string for a boolean
compute.InstanceTemplate("a", properties={"disks": {"boot": True}})  # wrong: a dict for a list
compute.InstanceTemplate("a", properties={"labels": {"team": 5}})  # wrong: a number in a map of strings
compute.BulkInstances("a", count="three")  # wrong: a string for a number
compute.BulkInstances("a", count=text)  # wrong: an output of a string for a number
compute.InstanceTemplate("a", properties={"disks": [{"disk_size_gb": text}]})  # wrong: the same in a dict
compute.DiskAttachment("a", instance="i", disk="d", guest_os_features=[{}])  # wrong: a dict without a required key
compute.BulkInstances("a", location_policy={"zones": [{}]})  # wrong: the same deep inside
compute.InstanceTemplate("a", propertys={"machine_type": "e2-small"})  # wrong: an unknown keyword
gcpx.oslogin.SshKey("a", user="me@example.com")  # wrong: a resource without a required input
gcpx.oslogin.SshKey("a", user="me@example.com", key=None)  # wrong: None for a required input
gcpx.storage.NotificationConfig("a", topic="t")  # wrong: a resource without a required input

compute.InstancePropertiesArgs(machine_typ="e2-small")  # wrong: an unknown keyword of a class
compute.AttachedDiskArgs(boot="yes")  # wrong: a string for a boolean in a class
compute.InstancePropertiesArgs(tags=compute.AttachedDiskArgs())  # wrong: another class
compute.InstancePropertiesArgs(tags={"item": ["web"]})  # wrong: a typo in a dict in a class
compute.GuestOsFeatureArgs()  # wrong: a class without a required input
compute.InstanceTemplate("a", properties=compute.TagsArgs())  # wrong: the class of another input
compute.InstanceTemplate("a", compute.BulkInstancesArgs())  # wrong: the arguments of another resource
gcpx.oslogin.SshKey("a", gcpx.oslogin.SshKeyArgs(user="u"))  # wrong: arguments without a required input

compute.list_regions(filters="status = UP")  # wrong: an unknown keyword of a function
compute.list_regions(max_results="all")  # wrong: a string for a number in a function
compute.get_operation()  # wrong: a function without a required argument
gcpx.oauth2.get_token_info_output()  # wrong: the same with outputs
gcpx.pubsub.verify_push_token("a", token="t")  # wrong: a function without one of its required arguments
gcpx.Provider("a", regions="us-east1")  # wrong: an unknown setting
gcpx.Provider("a", project=gcpx.config.emulatorHost)  # wrong: a setting by the name of another language
compute.BulkInstances("a").createdcount  # wrong: a typo in an output

# In a call of several lines, mypy names the line of the resource, and pyright that of its input; an item of a list is
# named by both.
compute.InstanceTemplate(  # wrong (mypy): a typo in a key
    "a",
    properties={  # wrong (pyright): a typo in a key
        "machine_typ": "e2-small"
    },
)
compute.BulkInstances(
    "a",
    fallbacks=[
        {"zones": ["us-east1-c"]},
        {"zone": ["us-east1-c"]},  # wrong: a typo in a key
    ],
)

# Both name the very line in an object of a class, and in a dict that is declared with its type.
compute.InstanceTemplate(
    "a",
    properties=compute.InstancePropertiesArgs(
        machine_type=5,  # wrong: a number for a string
        disks=[
            compute.AttachedDiskArgs(
                boot="yes"  # wrong: a string for a boolean
            )
        ],
    ),
)
disk: compute.AttachedDiskArgsDict = {
    "boot": "yes",  # wrong: a string for a boolean
    "disk_size_gb": 20,
}
