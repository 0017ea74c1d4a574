import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { numberCodeDigits } from "#contract/limits/phone-numbers.ts";
import { Phone } from "#contract/phone/phone.ts";
import { toAsciiDigits } from "#contract/text.ts";

/**
 * Verification of the own number (docs/decisions/number-verification.md), and whose a number is (number-takeover.md).
 */

/** Ways of proving a number, those without costs for anybody first. The app offers them in this order. */
export const numberMethods = ["whatsapp_message", "missed_call", "whatsapp_code", "sms_code", "vouching"] as const;
export type NumberMethod = (typeof numberMethods)[number];

/** Methods that do not say for whom: who is talked into calling, and contacts, prove a number for anybody. */
export const weakMethods: readonly NumberMethod[] = ["missed_call", "vouching"];
export const isWeakProof = (method: NumberMethod): boolean => weakMethods.includes(method);

/** Whether a proof is worth more than an earlier one: contacts' word least, then a call. */
export const isStrongerProof = (method: NumberMethod, than: NumberMethod): boolean =>
  than === "vouching" ? method !== "vouching" : isWeakProof(than) && !isWeakProof(method);

/** Methods that send a code to the number. With the others the number's owner sends a message or calls. */
export const sendsCode = (method: NumberMethod): boolean => method.endsWith("_code");

export const OwnNumber = v.object({
  phone: v.string(), // empty if somebody else has verified it
  handle: v.nullable(v.string()), // by which the person signs in without a number
  verified_at: v.nullable(v.number()), // epoch milliseconds
  methods: v.array(v.picklist(numberMethods)), // offered for this number
  /** Somebody else has proved the number, and may have it from then on unless it is verified again. */
  contested_until: v.nullable(v.number()),
  /** Method of the last proof, if that was in order but the number stays with somebody who uses it. */
  refused_method: v.nullable(v.picklist(numberMethods)),
  /** Verified by contacts only, so that another method is worth more. */
  is_vouched: v.boolean(),
  /** Open proof by vouching, and how many contacts have confirmed so far. */
  vouching: v.nullable(v.object({ proof: Uuid, confirmed: v.number() })),
});
export type OwnNumber = v.InferOutput<typeof OwnNumber>;

/** Number to be sent a code; the own one by default. */
export const NumberChallengeRequest = v.strictObject({ phone: v.optional(Phone) });

/**
 * `phone`: a new number, in place of the present one. It needs a recent factor. `captcha_token`: proof of work for a
 * code, as at sign-up.
 */
export const NumberProofStart = v.strictObject({
  method: v.picklist(numberMethods),
  phone: v.optional(Phone),
  captcha_token: v.optional(v.pipe(v.string(), v.maxLength(4_096))),
});
export type NumberProofStart = v.InferInput<typeof NumberProofStart>;

/** Methods offered for a new number, whether or not somebody has it. */
export const NewNumber = v.strictObject({ phone: Phone });
export const NewNumberMethods = v.object({ phone: v.string(), methods: v.array(v.picklist(numberMethods)) });
export type NewNumberMethods = v.InferOutput<typeof NewNumberMethods>;

/** Started proof and what its person does next: type the code, send a message, call a number, or show a code. */
export const NumberProof = v.object({
  id: Uuid,
  expires_at: v.number(),
  ask: v.variant("kind", [
    v.object({ kind: v.literal("code") }),
    v.object({ kind: v.literal("message"), to: v.string(), text: v.string(), url: v.string() }),
    v.object({ kind: v.literal("call"), to: v.string() }),
    v.object({ kind: v.literal("vouching"), url: v.string(), qr_code: v.string() }),
  ]),
});
export type NumberProof = v.InferOutput<typeof NumberProof>;

const codePattern = new RegExp(`^\\d{${numberCodeDigits}}$`);

/** Typed code; spaces do not count. */
const NumberCode = v.pipe(
  v.string(),
  v.maxLength(40),
  v.transform((typed) => toAsciiDigits(typed.normalize("NFKC")).replace(/\s/g, "")),
  v.regex(codePattern),
);
export const NumberCodeCheck = v.strictObject({ code: NumberCode });
