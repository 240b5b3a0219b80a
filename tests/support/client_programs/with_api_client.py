"""Compute Engine, Cloud Storage, Pub/Sub and OS Login with google-api-python-client."""

import io

from googleapiclient.discovery import build
from googleapiclient.http import MediaIoBaseDownload, MediaIoBaseUpload
from steps import IMAGE, PROJECT, ZONE, step

with step("create an instance and wait for its operation"):
    compute = build("compute", "v1")
    body = {
        "name": "web",
        "machineType": f"zones/{ZONE}/machineTypes/e2-small",
        "disks": [{"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": IMAGE}}],
        "networkInterfaces": [{"network": "global/networks/default"}],
    }
    operation = compute.instances().insert(project=PROJECT, zone=ZONE, body=body).execute()
    done = compute.zoneOperations().wait(project=PROJECT, zone=ZONE, operation=operation["name"]).execute()
    assert done["status"] == "DONE"
with step("list with pages, a filter and a mask"):
    request = compute.instances().list(
        project=PROJECT, zone=ZONE, filter="status=RUNNING", maxResults=1, fields="items/name,nextPageToken"
    )
    answer = request.execute()
    assert answer["items"] == [{"name": "web"}]
    compute.instances().list_next(request, answer)
with step("send a batch"):
    results = []
    batch = compute.new_batch_http_request(lambda _, answer, error: results.append(error or answer["name"]))
    batch.add(compute.instances().get(project=PROJECT, zone=ZONE, instance="web"))
    batch.add(compute.zones().get(project=PROJECT, zone=ZONE))
    batch.execute()
    assert results == ["web", ZONE]
with step("upload and download an object"):
    storage = build("storage", "v1")
    storage.buckets().insert(project=PROJECT, body={"name": "uploads"}).execute()
    media = MediaIoBaseUpload(io.BytesIO(b"x" * 600000), "text/plain", chunksize=262144, resumable=True)
    upload, answer = storage.objects().insert(bucket="uploads", name="large", media_body=media), None
    while answer is None:
        _, answer = upload.next_chunk()
    received, is_done = io.BytesIO(), False
    download = MediaIoBaseDownload(received, storage.objects().get_media(bucket="uploads", object="large"))
    while not is_done:
        _, is_done = download.next_chunk()
    assert len(received.getvalue()) == 600000
with step("publish and pull"):
    pubsub = build("pubsub", "v1").projects()
    topic, subscription = f"projects/{PROJECT}/topics/uploads", f"projects/{PROJECT}/subscriptions/workers"
    pubsub.topics().create(name=topic, body={}).execute()
    pubsub.subscriptions().create(name=subscription, body={"topic": topic}).execute()
    pubsub.topics().publish(topic=topic, body={"messages": [{"data": "eA=="}]}).execute()
    pulled = pubsub.subscriptions().pull(subscription=subscription, body={"maxMessages": 1}).execute()
    assert pulled["receivedMessages"][0]["message"]["data"] == "eA=="
with step("read a profile of OS Login"):
    build("oslogin", "v1").users().getLoginProfile(name="users/me@example.com").execute()
with step("read the description of an API"):
    assert build("compute", "beta", static_discovery=False).zones().list(project=PROJECT).execute()["items"]
