// What the Worker may be told of STUN servers and relays for calls (worker/calls/relay-settings.ts). In production it is
// kept beside the secrets, where no deployment resets it; a server on this machine is told what stands in the environment.
const callSettings = ["RELAY", "STUN_URLS", "TURN_HOST", "TURN_SECRET", "TURN_KEY_ID", "TURN_KEY_TOKEN"];

/** What a deployment begins with: devices behind two routers find each other by it. */
export const productionStun = "stun:stun.cloudflare.com:3478";

/** Other log-ins (worker/auth/providers/providers.ts), of which one is a secret: they may be tried here in the same way. */
const loginSettings = ["OIDC_PROVIDERS", "OIDC_SECRETS", "REDIRECT_URLS"];

/** Arguments for `wrangler dev`, which takes from .dev.vars only what wrangler.toml names. */
export const listSettingArguments = () =>
  [...callSettings, ...loginSettings].flatMap((name) =>
    process.env[name] === undefined ? [] : ["--var", `${name}:${process.env[name]}`],
  );
