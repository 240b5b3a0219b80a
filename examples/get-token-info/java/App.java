package gettokeninfo;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import dev.gcpx.sdk.oauth2.Oauth2Functions;
import dev.gcpx.sdk.oauth2.inputs.GetTokenInfoArgs;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
        final var config = ctx.config();
        final var token = config.requireSecret("token");
        final var claims = Oauth2Functions.getTokenInfo(GetTokenInfoArgs.builder()
            .idToken(token)
            .build());

        ctx.export("account", claims.applyValue(result -> result.email()));
    }
}
