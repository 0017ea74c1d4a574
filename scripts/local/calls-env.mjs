// Settings for STUN servers and relays (worker/calls/relay-settings.ts). In production they are stored with the
// secrets, where deployments keep them; a local server reads them from the environment.
const callSettings = ["RELAY", "STUN_URLS", "TURN_HOST", "TURN_SECRET", "TURN_KEY_ID", "TURN_KEY_TOKEN"];

/** Default STUN server of a deployment: devices behind different routers need one to connect. */
export const productionStun = "stun:stun.cloudflare.com:3478";

/**
 * Settings of external log-ins (worker/auth/providers/providers.ts), one of them secret; local servers accept them in
 * the same way.
 */
const loginSettings = ["OIDC_PROVIDERS", "OIDC_SECRETS", "REDIRECT_URLS"];

/** Push service of this machine that replaces all others (worker/lib/push/push-sender.ts). */
const pushSettings = ["PUSH_RELAY"];

/** Ways of verifying numbers (worker/lib/number-adapters.ts). */
const numberSettings = ["NUMBER_PROOFS", "NUMBER_PROOF_SECRETS"];

/** Arguments for `wrangler dev`, which reads only names declared in wrangler.toml from .dev.vars. */
export const listSettingArguments = () =>
  [...callSettings, ...loginSettings, ...numberSettings, ...pushSettings].flatMap((name) =>
    process.env[name] === undefined ? [] : ["--var", `${name}:${process.env[name]}`],
  );
