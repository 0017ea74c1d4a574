import * as v from "valibot";
import type { NumberMethod } from "#contract/auth/number.ts";
import { toE164 } from "#contract/phone/phone.ts";
import { openDb } from "#worker/db/client.ts";
import { type AppContext, createRoutes } from "#worker/lib/http/app.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { type NumberAdapter, readNumberSettings } from "#worker/lib/number-adapters.ts";
import { completeProofAndNotify } from "./complete-proof.ts";
import { toCallLookup, toMessageLookup } from "./proof-hashes.ts";
import { findProofsByLookup } from "./queries.ts";
import { isEqualSecret, isSignedByMeta, isSignedCall } from "./webhook-signature.ts";

/**
 * Webhooks of services that receive messages and calls. A signed webhook is always accepted, whether it completes a
 * proof or not, so that its service neither repeats it nor learns who proves a number.
 */

const seconds = v.pipe(v.union([v.string(), v.number()]), v.transform(Number), v.integer());

/** Text messages in a webhook of the WhatsApp Business Platform, among much else. */
const MessageWebhook = v.object({
  entry: v.array(
    v.object({
      changes: v.array(
        v.object({
          value: v.object({
            messages: v.optional(
              v.array(
                v.object({ from: v.string(), timestamp: seconds, text: v.optional(v.object({ body: v.string() })) }),
              ),
            ),
          }),
        }),
      ),
    }),
  ),
});

/** Call that was not answered. */
const CallWebhook = v.object({ from: v.string(), to: v.string(), started_at: seconds });

const tokenPattern = /\bLISOLO-[0-9A-Z]{8}\b/gi;
const tokensMax = 5;

/** Webhooks have whole seconds, and clocks differ. */
const clockToleranceMs = 10_000;

type Contact = { from: string; at: number; lookups: string[] };

/** Completes the proof that a message or call belongs to: of this number, started before it. */
const completeProofs = async (c: AppContext, adapter: NumberAdapter, { from, at, lookups }: Contact): Promise<void> => {
  const phone = toE164(from);
  if (phone === undefined || lookups.length === 0) return;
  const db = openDb(c.env);
  const method: NumberMethod = adapter.method;
  const started = { after: at + clockToleranceMs, now: Date.now() };
  const proofs = await findProofsByLookup(db, { lookups, phone, method, adapter: adapter.id, at: started });
  for (const proof of proofs) await completeProofAndNotify(c, proof);
};

const parseJson = <T extends v.GenericSchema>(schema: T, body: string): v.InferOutput<T> | undefined => {
  try {
    const parsed = v.safeParse(schema, JSON.parse(body));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined; // not JSON
  }
};

const readMessages = (c: AppContext, body: string): Contact[] =>
  (parseJson(MessageWebhook, body)?.entry ?? [])
    .flatMap(({ changes }) => changes)
    .flatMap(({ value }) => value.messages ?? [])
    .map(({ from, timestamp, text }) => ({
      from: `+${from}`,
      at: timestamp * 1_000,
      lookups: (text?.body.match(tokenPattern) ?? []).slice(0, tokensMax).map((token) => toMessageLookup(c.env, token)),
    }));

const readCall = (c: AppContext, body: string): Contact[] => {
  const call = parseJson(CallWebhook, body);
  const [from, to] = [toE164(call?.from ?? ""), toE164(call?.to ?? "")];
  if (!call || from === undefined || to === undefined) return [];
  return [{ from, at: call.started_at * 1_000, lookups: [toCallLookup(c.env, from, to)] }];
};

const AdapterPath = v.object({ adapter: v.pipe(v.string(), v.maxLength(40)) });
const Handshake = v.object({
  "hub.mode": v.literal("subscribe"),
  "hub.verify_token": v.pipe(v.string(), v.maxLength(200)),
  "hub.challenge": v.pipe(v.string(), v.regex(/^\w{1,200}$/)),
});

export const numberWebhookRoutes = createRoutes()
  .get(
    "/number/webhooks/:adapter",
    describeOperation({
      tag: "service",
      summary: "Handshake of Meta's webhooks: returns the challenge to whoever has the verify token",
      isPublic: true,
      ok: { status: 200, body: "text/plain" },
      refusals: ["not_found", "not_allowed"],
    }),
    validate("param", AdapterPath, "not_found"),
    validate("query", Handshake, "not_found"),
    (c) => {
      const { adapters, secrets } = readNumberSettings(c.env);
      const adapter = adapters.find(({ id }) => id === c.req.valid("param").adapter);
      if (adapter?.method !== "whatsapp_message") return refuse(c, "not_found");
      const { "hub.verify_token": token, "hub.challenge": challenge } = c.req.valid("query");
      if (!isEqualSecret(token, secrets[adapter.verify_token])) return refuse(c, "not_allowed");
      return c.text(challenge, 200);
    },
  )
  .post(
    "/number/webhooks/:adapter",
    describeOperation({
      tag: "service",
      summary: "A message or an unanswered call from a number, signed by the service that received it",
      isPublic: true,
      ok: { status: 204, body: null },
      bodyType: "application/json",
      refusals: ["not_found", "not_allowed", "forbidden_origin"],
    }),
    validate("param", AdapterPath, "not_found"),
    async (c) => {
      const { adapters, secrets } = readNumberSettings(c.env);
      const adapter = adapters.find(({ id }) => id === c.req.valid("param").adapter);
      const body = await c.req.text();
      let contacts: Contact[];
      if (adapter?.method === "whatsapp_message") {
        if (!isSignedByMeta(secrets[adapter.app_secret], body, c.req.header("x-hub-signature-256")))
          return refuse(c, "not_allowed");
        contacts = readMessages(c, body);
      } else if (adapter?.method === "missed_call") {
        if (!isSignedCall(secrets[adapter.secret], body, c.req.header("x-lisolo-signature"), Date.now()))
          return refuse(c, "not_allowed");
        contacts = readCall(c, body);
      } else return refuse(c, "not_found");
      for (const contact of contacts) await completeProofs(c, adapter, contact);
      return c.body(null, 204);
    },
  );
