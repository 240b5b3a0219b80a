// Buckets and objects with @google-cloud/storage.
const {Storage} = require("@google-cloud/storage");
const {step} = require("./steps.js");

(async () => {
  const client = new Storage({retryOptions: {autoRetry: false}});
  const bucket = client.bucket("uploads");
  await step("create, label and list buckets", async () => {
    await client.createBucket("uploads", {location: "us-east1"});
    await bucket.setLabels({a: "b"});
    const [found] = await client.getBuckets();
    if (found.length !== 1) throw new Error(`found ${found.length}`);
  });
  await step("upload and download", async () => {
    await bucket.file("small.txt").save("some text", {resumable: false, contentType: "text/plain"});
    const [content] = await bucket.file("small.txt").download();
    if (content.toString() !== "some text") throw new Error(content.toString());
  });
  await step("upload in parts", async () => {
    await bucket.file("large").save(Buffer.alloc(600000, "x"), {resumable: true, chunkSize: 262144});
    const [metadata] = await bucket.file("large").getMetadata();
    if (Number(metadata.size) !== 600000) throw new Error(metadata.size);
  });
  await step("list objects and prefixes", async () => {
    await bucket.file("a/b.txt").save("x", {resumable: false});
    const [files] = await bucket.getFiles({delimiter: "/", autoPaginate: false});
    if (files.length !== 2) throw new Error(`found ${files.length}`);
  });
  await step("copy, move and combine", async () => {
    await bucket.file("small.txt").copy(bucket.file("copy.txt"));
    await bucket.file("copy.txt").move(bucket.file("moved.txt"));
    await bucket.combine(["small.txt", "moved.txt"], "both.txt");
  });
  await step("set metadata", async () => {
    await bucket.file("small.txt").setMetadata({metadata: {key: "value"}});
  });
  await step("change the IAM policy of a bucket", async () => {
    const [policy] = await bucket.iam.getPolicy({requestedPolicyVersion: 3});
    policy.bindings = [{role: "roles/storage.objectViewer", members: ["user:me@example.com"]}];
    await bucket.iam.setPolicy(policy);
  });
  await step("download with a signed URL", async () => {
    const [url] = await bucket.file("small.txt").getSignedUrl({version: "v4", action: "read", expires: Date.now() + 60000});
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  });
  await step("delete all objects and the bucket", async () => {
    await bucket.deleteFiles();
    await bucket.delete();
  });
})();
