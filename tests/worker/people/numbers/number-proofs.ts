import { env } from "cloudflare:workers";
import { createHmac } from "node:crypto";
import * as v from "valibot";
import type { Session } from "#contract/auth/auth.ts";
import { type NumberMethod, NumberProof, OwnNumber, sendsCode } from "#contract/auth/number.ts";
import { Challenge } from "#contract/auth/sign-in.ts";
import { type Answer, makeCaptchaToken, type Person, solveForToken } from "#tests/support/people/people.ts";
import { request } from "#tests/worker/support/device.ts";
import { site } from "#tests/worker/support/site.ts";
import { callRawWith, callWith } from "#tests/worker/support/wrapped-site.ts";
import { createSessionRow, insertSession } from "#worker/auth/sessions/sessions.ts";
import { openDb } from "#worker/db/client.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";

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

type Bindings = ReturnType<typeof withAdapters> & { LOCAL_LIMIT_FACTOR?: string };

export const readOwnNumber = async (person: Person, bindings: Bindings = withAdapters()): Promise<OwnNumber> =>
  v.parse(OwnNumber, (await callWith(bindings, "GET", "/api/number", { token: person.token })).body);

export const isVerified = async (person: Person): Promise<boolean> =>
  (await readOwnNumber(person)).verified_at !== null;

/** Proof of work for a code to a number of one's own, or to a new one. */
export const makeNumberToken = async (
  { token }: Pick<Person, "token">,
  { phone, bindings = withAdapters(), headers = {} }: CodeOptions = {},
): Promise<string> => {
  const body = phone === undefined ? {} : { phone };
  const answer = await callWith(bindings, "POST", "/api/number/challenge", { token, body, headers });
  return solveForToken(v.parse(Challenge, answer.body));
};

type CodeOptions = { phone?: string; bindings?: Bindings; headers?: Record<string, string> };

/** Requests a proof, by a code with the proof of work for it. */
export const requestProof = async (
  person: Pick<Person, "token">,
  method: NumberMethod,
  bindings: Bindings = withAdapters(),
  { phone, headers = {} }: CodeOptions = {},
) => {
  const options = { bindings, headers, ...(phone === undefined ? {} : { phone }) };
  const work = sendsCode(method) ? { captcha_token: await makeNumberToken(person, options) } : {};
  const body = { method, ...work, ...(phone === undefined ? {} : { phone }) };
  return callWith(bindings, "POST", "/api/number/proofs", { token: person.token, body, headers });
};

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

const codeOf = (answer: { body: unknown }) => (answer.body as { error_code?: string }).error_code;

/** Password of those who register with somebody's number. */
export const newPassword = "Mokonzi2026";

/** Registers with a number where numbers can be verified. */
export const register = async (phone: string, password = newPassword) => {
  const captcha_token = await makeCaptchaToken(site, { action: "sign_up", subject: phone });
  const body = { phone, password, data: { username: "Le vrai" }, gotrue_meta_security: { captcha_token } };
  return callWith(withAdapters(), "POST", "/api/auth/signup", { body });
};
export const registerPerson = async (phone: string): Promise<Person> => {
  const answer = await register(phone);
  if (answer.status !== 200) throw new Error(`not registered: ${codeOf(answer)}`);
  const { user, access_token: token, refresh_token: refreshToken } = answer.body as Session;
  return { id: user.id, phone, password: newPassword, username: "Le vrai", token, refreshToken };
};

/** Opens a session now: tokens are short-lived, and the clock may have been advanced. */
export const renew = async (person: Person, isProved = true): Promise<Person> => {
  const now = Date.now();
  const session = createSessionRow(person.id, now, isProved ? { proved_at: now } : {});
  await insertSession(openDb(env), session);
  return { ...person, token: await signAccessToken(env, { sub: person.id, sid: session.id, gen: 0 }) };
};

/** Proves a number by a message from it, as its owner does. */
export const prove = async (person: Person, phone = person.phone) => {
  const own = await readOwnNumber(person);
  const body = { method: "whatsapp_message", ...(own.phone === phone ? {} : { phone }) };
  const started = await callWith(withAdapters(), "POST", "/api/number/proofs", { token: person.token, body });
  const { ask } = started.body as { ask?: { text: string } };
  if (!ask) throw new Error(`not started: ${codeOf(started)}`);
  await postMessage(toMessageWebhook(phone, ask.text));
  return readOwnNumber(person);
};

/** Events of the security notices that a person's devices receive. */
export const eventsOf = async (person: Person) =>
  (await request(person, { type: "changes", since: 0 })).notices.map(({ event }) => event);
