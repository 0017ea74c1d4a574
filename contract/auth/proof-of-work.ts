import * as v from "valibot";
import { NamedHandle } from "#contract/names/handles.ts";
import { Phone } from "#contract/phone/phone.ts";
import { Email } from "./security.ts";

/** Actions that require a proof of work. A proof is valid once, for one action and one number, handle or address. */
export const ChallengeRequest = v.union([
  v.object({ action: v.picklist(["sign_up", "sign_in", "recover_by_code"]), subject: Phone }),
  v.object({ action: v.picklist(["sign_in", "recover_by_code"]), subject: NamedHandle }),
  v.object({ action: v.literal("recover"), subject: Email }),
]);
/** `subject` as typed; the server compares its stored form. */
export type ChallengeRequest = v.InferInput<typeof ChallengeRequest>;
/** Purpose of a proof, with the number or address in its stored form. Codes to a number have a route of their own. */
export type ProofPurpose = v.InferOutput<typeof ChallengeRequest> | { action: "number_code"; subject: string };
