# Commands of gcloud; each is reported in a line of JSON, also if it fails.
step() {
    name=$1
    shift
    if error=$(gcloud --quiet "$@" 2>&1 > /dev/null); then error=; fi
    python3 -c 'import json, sys; print(json.dumps({"step": sys.argv[1], "error": sys.argv[2] or None}))' "$name" "$error"
}
zone=--zone=us-east1-b
step "list zones" compute zones list
step "create a network" compute networks create inside --subnet-mode=custom
step "create a subnetwork" compute networks subnets create workers --network=inside --range=10.9.0.0/24 --region=us-east1
step "create a firewall rule" compute firewall-rules create ssh --network=inside --allow=tcp:22
step "reserve an address" compute addresses create kept --region=us-east1
step "create an instance" compute instances create web $zone --machine-type=e2-small --image-family=debian-12 --image-project=debian-cloud
step "list instances with a filter" compute instances list --filter=name=web
step "describe an instance" compute instances describe web $zone
step "add labels, tags and metadata" compute instances add-labels web $zone --labels=a=b
step "create a disk" compute disks create data $zone --size=10GB
step "attach a disk" compute instances attach-disk web $zone --disk=data
step "take a snapshot" compute snapshots create data-1 --source-disk=data --source-disk-zone=us-east1-b
step "stop an instance" compute instances stop web $zone
step "start an instance" compute instances start web $zone
step "create an instance template" compute instance-templates create web --machine-type=e2-small --image-family=debian-12 --image-project=debian-cloud
step "create a managed instance group" compute instance-groups managed create group $zone --template=web --size=1
step "create a bucket" storage buckets create gs://uploads --location=us-east1
echo "some text" > small.txt
step "upload an object" storage cp small.txt gs://uploads/small.txt
step "list objects" storage ls gs://uploads
step "download an object" storage cat gs://uploads/small.txt
step "delete objects" storage rm gs://uploads/small.txt
step "create a topic" pubsub topics create uploads
step "create a subscription" pubsub subscriptions create workers --topic=uploads
step "publish a message" pubsub topics publish uploads --message=x
step "pull a message" pubsub subscriptions pull workers --auto-ack
step "delete an instance" compute instances delete web $zone
