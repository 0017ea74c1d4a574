import * as v from "valibot";
import type { Provider } from "#contract/auth/security.ts";

/** Who signs people in besides us, as wrangler.toml (`OIDC_PROVIDERS`) and the secret `OIDC_SECRETS` say it (README.md). */

const localHosts = ["localhost", "127.0.0.1"];

/** `http` is for a provider on this machine only. */
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

/** Names the setting and the place in it, never what stands there. */
const parseSetting = <T>(name: string, text: string, schema: v.GenericSchema<unknown, T>): T => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${name} is no JSON`);
  }
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  // The message of a check is ours; valibot's own quote what was received.
  const wanted = issue.type === "check" ? issue.message : issue.expected;
  throw new Error(`${name} is wrong at ${v.getDotPath(issue) ?? "the top"}: expected ${wanted}`);
};

const textOr = (text: unknown, otherwise: string): string =>
  typeof text === "string" && text.trim() !== "" ? text : otherwise;

const parseProviderSettings = (providers: string, secrets: string): ProviderSetting[] => {
  try {
    const secretOf = parseSetting("OIDC_SECRETS", secrets, ProviderSecretsSchema);
    return parseSetting("OIDC_PROVIDERS", providers, ProviderListSchema).map((setting) => ({
      ...setting,
      secret: secretOf[setting.id],
    }));
  } catch (error) {
    console.error(`No other provider is offered: ${error instanceof Error ? error.message : "unknown"}`);
    return [];
  }
};

let cachedSettings: { providers: string; secrets: string; settings: ProviderSetting[] } | undefined;

/** All of them, or none where the settings are wrong, which the log says once. */
const listProviderSettings = (env: object): ProviderSetting[] => {
  const { OIDC_PROVIDERS, OIDC_SECRETS } = env as { OIDC_PROVIDERS?: unknown; OIDC_SECRETS?: unknown };
  const [providers, secrets] = [textOr(OIDC_PROVIDERS, "[]"), textOr(OIDC_SECRETS, "{}")];
  if (cachedSettings?.providers !== providers || cachedSettings.secrets !== secrets) {
    cachedSettings = { providers, secrets, settings: parseProviderSettings(providers, secrets) };
  }
  return cachedSettings.settings;
};

/** By its id; clients of the public GoTrue API write `custom:` before those that they do not know by name. */
export const findProviderSetting = (env: object, id: string): ProviderSetting | undefined =>
  listProviderSettings(env).find((setting) => setting.id === id.replace(/^custom:/, ""));

/** What a person may know of them. */
export const listPublicProviders = (env: object): Provider[] =>
  listProviderSettings(env).map(({ id, name }) => ({ id, name }));
