package sshkey;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import dev.gcpx.sdk.oslogin.SshKey;
import dev.gcpx.sdk.oslogin.SshKeyArgs;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
        var laptop = new SshKey("laptop", SshKeyArgs.builder()
            .user("operator@example.com")
            .key("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0gF6TLPrDwxF8fNKq2bwUKcGqxnzqRMxcbNKS1wR3g laptop")
            .expirationTimeUsec("1924991999000000")
            .build());

        ctx.export("fingerprint", laptop.fingerprint());
    }
}
