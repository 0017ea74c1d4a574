import * as v from "valibot";
import { Phone } from "#contract/phone.ts";
import { Email } from "./security.ts";

/** Actions that ask for a proof of work. A proof is good for one of them, for one number or mail address, once. */
export const ChallengeRequest = v.union([
  v.object({ action: v.picklist(["sign_up", "sign_in", "recover_by_code"]), subject: Phone }),
  v.object({ action: v.literal("recover"), subject: Email }),
]);
/** `subject` as it was typed; the server compares it in its stored form. */
export type ChallengeRequest = v.InferInput<typeof ChallengeRequest>;
/** Purpose of a proof, with the number or address in its stored form. */
export type ProofPurpose = v.InferOutput<typeof ChallengeRequest>;
