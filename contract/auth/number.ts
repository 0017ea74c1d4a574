import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { numberCodeDigits } from "#contract/limits.ts";

/** Verification of the own number (docs/decisions/number-verification.md). */

/** Ways of proving a number, those without costs for anybody first. The app offers them in this order. */
export const numberMethods = ["whatsapp_message", "missed_call", "whatsapp_code", "sms_code"] as const;
export type NumberMethod = (typeof numberMethods)[number];

/** Methods that send a code to the number. With the others the number's owner sends a message or calls. */
export const sendsCode = (method: NumberMethod): boolean => method.endsWith("_code");

export const OwnNumber = v.object({
  phone: v.string(),
  verified_at: v.nullable(v.number()), // epoch milliseconds
  methods: v.array(v.picklist(numberMethods)), // offered for this number; none without a configuration
});
export type OwnNumber = v.InferOutput<typeof OwnNumber>;

export const NumberProofStart = v.strictObject({ method: v.picklist(numberMethods) });

/** Started proof and what its person does next: type the code, send this message, or call this number. */
export const NumberProof = v.object({
  id: Uuid,
  expires_at: v.number(),
  ask: v.variant("kind", [
    v.object({ kind: v.literal("code") }),
    v.object({ kind: v.literal("message"), to: v.string(), text: v.string(), url: v.string() }),
    v.object({ kind: v.literal("call"), to: v.string() }),
  ]),
});
export type NumberProof = v.InferOutput<typeof NumberProof>;

const codePattern = new RegExp(`^\\d{${numberCodeDigits}}$`);

/** Typed code; spaces do not count. */
const NumberCode = v.pipe(
  v.string(),
  v.maxLength(40),
  v.transform((typed) => typed.normalize("NFKC").replace(/\s/g, "")),
  v.regex(codePattern),
);
export const NumberCodeCheck = v.strictObject({ code: NumberCode });
