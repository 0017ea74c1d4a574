import { createHmac } from "node:crypto";
import * as v from "valibot";
import { type NumberMethod, NumberProof, OwnNumber } from "#contract/auth/number.ts";
import type { Answer, Person } from "#tests/support/people/people.ts";
import { site } from "#tests/worker/support/site.ts";
import { callRawWith, callWith } from "#tests/worker/support/wrapped-site.ts";

/** Called number and number that receives messages. Nobody has them. */
export const calledNumber = "+243810000098";
const whatsappNumber = "+243810000099";

const aggregator = { url: "https://sms.example/send", body: '{"to":"{{to}}","text":"{{text}}"}' };
const common = { prefixes: ["+243"], per_day: 100_000 };
const adapters = [
  { ...common, ...aggregator, id: "sms", method: "sms_code", headers: { authorization: "Key {{secret.sms}}" } },
  {
    ...common,
    id: "wa-code",
    method: "whatsapp_code",
    url: "https://wa.example/messages",
    content_type: "application/x-www-form-urlencoded",
    body: "to={{to_digits}}&code={{code}}&lang={{language}}",
  },
  {
    ...common,
    id: "wa-in",
    method: "whatsapp_message",
    number: whatsappNumber,
    app_secret: "meta",
    verify_token: "handshake",
  },
  { ...common, id: "bip", method: "missed_call", numbers: [calledNumber], secret: "voice" },
];
const secrets = { sms: "sms-secret", meta: "meta-secret", handshake: "shake", voice: "voice-secret" };

/** Bindings of a deployment with these adapters, all of them by default. */
export const withAdapters = (list: object[] = adapters) => ({
  NUMBER_PROOFS: JSON.stringify(list),
  NUMBER_PROOF_SECRETS: JSON.stringify(secrets),
});
export const withAdapter = (id: string, changed: object = {}) =>
  withAdapters(adapters.filter((adapter) => adapter.id === id).map((adapter) => ({ ...adapter, ...changed })));

type Bindings = ReturnType<typeof withAdapters>;

export const readOwnNumber = async (person: Person, bindings: Bindings = withAdapters()): Promise<OwnNumber> =>
  v.parse(OwnNumber, (await callWith(bindings, "GET", "/api/number", { token: person.token })).body);

export const isVerified = async (person: Person): Promise<boolean> =>
  (await readOwnNumber(person)).verified_at !== null;

export const requestProof = (person: Person, method: NumberMethod, bindings: Bindings = withAdapters()) =>
  callWith(bindings, "POST", "/api/number/proofs", { token: person.token, body: { method } });

/** Starts a proof that must be accepted. */
export const startProof = async (person: Person, method: NumberMethod, bindings?: Bindings): Promise<NumberProof> =>
  v.parse(NumberProof, (await requestProof(person, method, bindings)).body);

export const typeCode = (person: Pick<Person, "token">, { id }: { id: string }, code: string): Promise<Answer> =>
  callWith(withAdapters(), "POST", `/api/number/proofs/${id}/code`, { token: person.token, body: { code } });

const Messages = v.array(v.object({ to: v.string(), channel: v.string(), text: v.string() }));

/** Code of the newest message to a number, from the local server's list of them. */
export const readLocalCode = async (phone: string): Promise<string> => {
  const answer = await site.fetch("http://localhost/dev/sms", { headers: { accept: "application/json" } });
  const message = v.parse(Messages, await answer.json()).find(({ to }) => to === phone);
  return /\d{6}/.exec(message?.text ?? "")?.[0] ?? "";
};

const hmac = (secret: string, text: string): string => createHmac("sha256", secret).update(text).digest("hex");

const post = (path: string, headers: Record<string, string>, body: string): Promise<Response> =>
  callRawWith(withAdapters(), `/api/number/webhooks/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "cf-connecting-ip": "203.0.113.9", ...headers },
    body,
  });

const toSeconds = (ms: number): number => Math.floor(ms / 1_000);

/** Webhook of Meta about a text message. */
export const toMessageWebhook = (from: string, text: string, at = Date.now()): string =>
  JSON.stringify({
    object: "whatsapp_business_account",
    entry: [
      {
        id: "1",
        changes: [
          {
            field: "messages",
            value: {
              messaging_product: "whatsapp",
              messages: [
                {
                  from: from.slice(1),
                  id: "wamid.1",
                  timestamp: String(toSeconds(at)),
                  type: "text",
                  text: { body: text },
                },
              ],
            },
          },
        ],
      },
    ],
  });

export const postMessage = (body: string, signature = `sha256=${hmac(secrets.meta, body)}`): Promise<Response> =>
  post("wa-in", { "x-hub-signature-256": signature }, body);

export const toCallWebhook = (from: string, at = Date.now(), to = calledNumber): string =>
  JSON.stringify({ from, to, started_at: toSeconds(at) });

export const signCall = (body: string, at = Date.now(), secret = secrets.voice): string =>
  `t=${toSeconds(at)},v1=${hmac(secret, `${toSeconds(at)}.${body}`)}`;

export const postCall = (body: string, signature = signCall(body)): Promise<Response> =>
  post("bip", { "x-lisolo-signature": signature }, body);
