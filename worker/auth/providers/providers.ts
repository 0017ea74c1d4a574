import * as v from "valibot";
import type { Provider } from "#contract/auth/security.ts";
import { parseSetting, textOr } from "#worker/lib/json-setting.ts";

/**
 * Other sign-in providers, configured in wrangler.toml (`OIDC_PROVIDERS`) and the secret `OIDC_SECRETS`
 * (docs/operating/README.md).
 */

const localHosts = ["localhost", "127.0.0.1"];

/** Tests an issuer URL. `http` is accepted only for a provider on this machine. */
const isIssuer = (text: string): boolean => {
  const url = URL.parse(text);
  if (!url || url.username || url.password || url.search || url.hash) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && localHosts.includes(url.hostname));
};

const singleLine = (maxLength: number) => v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(maxLength));

const ProviderSettingSchema = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9_-]{0,31}$/)),
  name: singleLine(40),
  issuer: v.pipe(v.string(), v.check(isIssuer, "an https address")),
  client_id: singleLine(500),
  scopes: v.optional(singleLine(500), "openid profile email"),
});
export type ProviderSetting = v.InferOutput<typeof ProviderSettingSchema> & { secret: string | undefined };

const ProviderListSchema = v.pipe(
  v.array(ProviderSettingSchema),
  v.maxLength(10),
  v.check((list) => new Set(list.map(({ id }) => id)).size === list.length, "no two of the same id"),
);
const ProviderSecretsSchema = v.record(v.string(), v.pipe(v.string(), v.nonEmpty()));

const parseProviderSettings = (providers: string, secrets: string): ProviderSetting[] => {
  try {
    const secretsById = parseSetting("OIDC_SECRETS", secrets, ProviderSecretsSchema);
    return parseSetting("OIDC_PROVIDERS", providers, ProviderListSchema).map((setting) => ({
      ...setting,
      secret: secretsById[setting.id],
    }));
  } catch (error) {
    console.error(`Other sign-in providers are disabled: ${error instanceof Error ? error.message : "unknown"}`);
    return [];
  }
};

let cachedSettings: { providers: string; secrets: string; settings: ProviderSetting[] } | undefined;

/** All configured providers, or none if the settings are invalid, which is logged once. */
const listProviderSettings = (env: object): ProviderSetting[] => {
  const { OIDC_PROVIDERS, OIDC_SECRETS } = env as { OIDC_PROVIDERS?: unknown; OIDC_SECRETS?: unknown };
  const [providers, secrets] = [textOr(OIDC_PROVIDERS, "[]"), textOr(OIDC_SECRETS, "{}")];
  if (cachedSettings?.providers !== providers || cachedSettings.secrets !== secrets) {
    cachedSettings = { providers, secrets, settings: parseProviderSettings(providers, secrets) };
  }
  return cachedSettings.settings;
};

/**
 * Finds a provider by id. Clients of the public GoTrue API prefix the ids of providers they do not know with `custom:`.
 */
export const findProviderSetting = (env: object, id: string): ProviderSetting | undefined =>
  listProviderSettings(env).find((setting) => setting.id === id.replace(/^custom:/, ""));

/** Public data of the providers. */
export const listPublicProviders = (env: object): Provider[] =>
  listProviderSettings(env).map(({ id, name }) => ({ id, name }));
