import * as gcpx from "pulumi-gcpx";

const laptop = new gcpx.oslogin.SshKey("laptop", {
    user: "operator@example.com",
    key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0gF6TLPrDwxF8fNKq2bwUKcGqxnzqRMxcbNKS1wR3g laptop",
    expirationTimeUsec: "1924991999000000",
});

export const fingerprint = laptop.fingerprint;
