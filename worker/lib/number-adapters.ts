import * as v from "valibot";
import { type NumberMethod, numberMethods } from "#contract/auth/number.ts";
import { Phone } from "#contract/phone/phone.ts";
import { parseSetting, textOr } from "./json-setting.ts";

/**
 * Ways of proving a number, configured by the operator in wrangler.toml (`NUMBER_PROOFS`) and the secret
 * `NUMBER_PROOF_SECRETS` (docs/operating/verifying-numbers.md). Without a configuration no number can be verified.
 */

/** Address by which an adapter of a local build stores its messages (worker/mail/local-sms.ts). */
export const localSmsUrl = "local:sms";

const isServiceUrl = (text: string): boolean =>
  URL.parse(text)?.protocol === "https:" || (LOCAL_MAILBOX && text === localSmsUrl);

const secretName = v.pipe(v.string(), v.regex(/^\w{1,40}$/));
const common = {
  id: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,31}$/)),
  /** Beginnings of the numbers that this adapter serves. Numbers of other countries are refused. */
  prefixes: v.pipe(v.array(v.pipe(v.string(), v.regex(/^\+[1-9]\d{0,7}$/))), v.minLength(1), v.maxLength(250)),
  /** Proofs started a day: the budget. */
  per_day: v.pipe(v.number(), v.integer(), v.minValue(1)),
};

/** Values that `{{name}}` stands for in the body of a request to an aggregator. */
export const bodyValues = ["to", "to_digits", "text", "code", "language"] as const;
const placeholders = /\{\{([\w.]+)\}\}/g;
const secretPrefix = "secret.";

const hasKnownPlaceholders = (template: string): boolean =>
  [...template.matchAll(placeholders)].every(
    ([, name = ""]) => name.startsWith(secretPrefix) || bodyValues.some((value) => value === name),
  );
const Template = v.pipe(v.string(), v.maxLength(4_000), v.check(hasKnownPlaceholders, "known placeholders"));

/** Sends a code by one HTTP request to an aggregator. */
const CodeAdapter = v.strictObject({
  ...common,
  method: v.picklist(["sms_code", "whatsapp_code"]),
  url: v.pipe(v.string(), v.check(isServiceUrl, "an https address")),
  content_type: v.optional(v.picklist(["application/json", "application/x-www-form-urlencoded"]), "application/json"),
  headers: v.optional(v.record(v.string(), Template), {}),
  body: Template,
});
export type CodeAdapter = v.InferOutput<typeof CodeAdapter>;

/** Receives a message from the number by a webhook of the WhatsApp Business Platform. */
const MessageAdapter = v.strictObject({
  ...common,
  method: v.literal("whatsapp_message"),
  number: Phone,
  app_secret: secretName,
  verify_token: secretName,
});

/** Receives an unanswered call from the number by a webhook of a voice service. */
const CallAdapter = v.strictObject({
  ...common,
  method: v.literal("missed_call"),
  /** Each awaits one caller of the same number at a time. */
  numbers: v.pipe(v.array(Phone), v.minLength(1), v.maxLength(10)),
  secret: secretName,
});

const NumberAdapterSchema = v.variant("method", [CodeAdapter, MessageAdapter, CallAdapter]);
export type NumberAdapter = v.InferOutput<typeof NumberAdapterSchema>;

const AdapterListSchema = v.pipe(
  v.array(NumberAdapterSchema),
  v.maxLength(50),
  v.check((list) => new Set(list.map(({ id }) => id)).size === list.length, "no two of the same id"),
);
const SecretsSchema = v.record(v.string(), v.pipe(v.string(), v.nonEmpty()));
type Secrets = v.InferOutput<typeof SecretsSchema>;

/** Names of the secrets that an adapter needs. */
const listSecretNames = (adapter: NumberAdapter): string[] => {
  if (adapter.method === "whatsapp_message") return [adapter.app_secret, adapter.verify_token];
  if (adapter.method === "missed_call") return [adapter.secret];
  return [adapter.body, ...Object.values(adapter.headers)]
    .flatMap((template) => [...template.matchAll(placeholders)].map(([, name = ""]) => name))
    .filter((name) => name.startsWith(secretPrefix))
    .map((name) => name.slice(secretPrefix.length));
};

/** Fills a template in; `encode` makes a value part of the body's format. */
export const fillPlaceholders = (
  template: string,
  values: Partial<Record<(typeof bodyValues)[number], string>>,
  secrets: Secrets,
  encode: (value: string) => string,
): string =>
  template.replace(placeholders, (_, name: string) =>
    encode(
      (name.startsWith(secretPrefix)
        ? secrets[name.slice(secretPrefix.length)]
        : values[name as (typeof bodyValues)[number]]) ?? "",
    ),
  );

type NumberSettings = { adapters: NumberAdapter[]; secrets: Secrets };
const noSettings: NumberSettings = { adapters: [], secrets: {} };

const parseNumberSettings = (adapters: string, secretsText: string): NumberSettings => {
  try {
    const secrets = parseSetting("NUMBER_PROOF_SECRETS", secretsText, SecretsSchema);
    const list = parseSetting("NUMBER_PROOFS", adapters, AdapterListSchema);
    const missing = list.flatMap(listSecretNames).find((name) => secrets[name] === undefined);
    if (missing !== undefined) throw new Error(`NUMBER_PROOF_SECRETS has no ${missing}`);
    return { adapters: list, secrets };
  } catch (error) {
    console.error(`Numbers cannot be verified: ${error instanceof Error ? error.message : "unknown"}`);
    return noSettings;
  }
};

const allCountries = ["+1", "+2", "+3", "+4", "+5", "+6", "+7", "+8", "+9"];

/** Adapters of a local server without a configuration, which show their codes at /dev/sms. */
const listLocalAdapters = (): NumberAdapter[] =>
  (["sms_code", "whatsapp_code"] as const).map((method) => ({
    id: `local-${method.replace("_", "-")}`,
    method,
    prefixes: allCountries,
    per_day: 10_000,
    url: localSmsUrl,
    content_type: "application/json",
    headers: {},
    body: "{{text}}",
  }));

let cached: { adapters: string; secrets: string; settings: NumberSettings } | undefined;

/** All adapters and their secrets, or none if the settings are invalid, which is logged once. */
export const readNumberSettings = (env: object): NumberSettings => {
  const { NUMBER_PROOFS, NUMBER_PROOF_SECRETS } = env as { NUMBER_PROOFS?: unknown; NUMBER_PROOF_SECRETS?: unknown };
  const [adapters, secrets] = [textOr(NUMBER_PROOFS, ""), textOr(NUMBER_PROOF_SECRETS, "{}")];
  if (adapters === "") return LOCAL_MAILBOX ? { adapters: listLocalAdapters(), secrets: {} } : noSettings;
  if (cached?.adapters !== adapters || cached.secrets !== secrets) {
    cached = { adapters, secrets, settings: parseNumberSettings(adapters, secrets) };
  }
  return cached.settings;
};

/** The adapter of a method that serves the longest beginning of a number. */
export const findAdapter = (env: object, phone: string, method: NumberMethod): NumberAdapter | undefined => {
  const fits = readNumberSettings(env)
    .adapters.filter((adapter) => adapter.method === method)
    .flatMap((adapter) => adapter.prefixes.map((prefix) => ({ adapter, prefix })))
    .filter(({ prefix }) => phone.startsWith(prefix));
  return fits.sort((a, b) => b.prefix.length - a.prefix.length)[0]?.adapter;
};

export const listMethods = (env: object, phone: string): NumberMethod[] =>
  numberMethods.filter((method) => findAdapter(env, phone, method) !== undefined);

/**
 * Beginnings of the numbers that the operator lets people verify. None on a local server without a configuration, where
 * codes are shown to everybody.
 */
export const listVerifiablePrefixes = (env: object): string[] => {
  if (LOCAL_MAILBOX && textOr((env as { NUMBER_PROOFS?: unknown }).NUMBER_PROOFS, "") === "") return [];
  return [...new Set(readNumberSettings(env).adapters.flatMap(({ prefixes }) => prefixes))];
};

/** Whether the operator lets people verify this number. */
export const isVerifiableNumber = (env: object, phone: string): boolean =>
  listVerifiablePrefixes(env).some((prefix) => phone.startsWith(prefix));
