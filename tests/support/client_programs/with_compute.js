// The life of an instance with @google-cloud/compute.
const compute = require("@google-cloud/compute");
const {step} = require("./steps.js");

const project = "demo-project", zone = "us-east1-b";
const instances = new compute.InstancesClient();
const operations = new compute.ZoneOperationsClient();

async function done([answer]) {
  let operation = answer.latestResponse;
  while (operation.status !== "DONE") {
    [operation] = await operations.wait({operation: operation.name, project, zone});
  }
}

(async () => {
  await step("read zones", async () => {
    await new compute.ZonesClient().get({project, zone});
  });
  await step("create an instance", async () => {
    await done(await instances.insert({project, zone, instanceResource: {
      name: "web",
      machineType: `zones/${zone}/machineTypes/e2-small`,
      disks: [{boot: true, autoDelete: true, initializeParams: {sourceImage: "projects/debian-cloud/global/images/family/debian-12"}}],
      networkInterfaces: [{network: "global/networks/default"}],
    }}));
  });
  await step("list instances, and those of all zones", async () => {
    const [found] = await instances.list({project, zone, filter: "name=web"});
    if (found.length !== 1) throw new Error(`found ${found.length}`);
    for await (const [, scope] of instances.aggregatedListAsync({project})) void scope;
  });
  await step("stop and start an instance", async () => {
    await done(await instances.stop({project, zone, instance: "web"}));
    await done(await instances.start({project, zone, instance: "web"}));
  });
  await step("create a managed instance group", async () => {
    await new compute.InstanceTemplatesClient().insert({project, instanceTemplateResource: {
      name: "web",
      properties: {
        machineType: "e2-small",
        disks: [{boot: true, autoDelete: true, initializeParams: {sourceImage: "projects/debian-cloud/global/images/family/debian-12"}}],
        networkInterfaces: [{network: "global/networks/default"}],
      },
    }});
    await done(await new compute.InstanceGroupManagersClient().insert({project, zone, instanceGroupManagerResource: {
      name: "group", baseInstanceName: "group", targetSize: 1, instanceTemplate: "global/instanceTemplates/web",
    }}));
  });
  await step("delete an instance", async () => {
    await done(await instances.delete({project, zone, instance: "web"}));
  });
})();
