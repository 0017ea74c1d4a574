import * as v from "valibot";
import {
  NewNumber,
  NewNumberMethods,
  NumberChallengeRequest,
  NumberCodeCheck,
  NumberProof,
  NumberProofStart,
  OwnNumber,
} from "#contract/auth/number.ts";
import { Challenge } from "#contract/auth/sign-in.ts";
import { Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { numberContestDays } from "#contract/limits/phone-numbers.ts";
import { Relation } from "#contract/people.ts";
import { openDb } from "#worker/db/client.ts";
import { findRelation } from "#worker/db/relations.ts";
import { pushPendingAfterResponse } from "#worker/lib/contact-updates.ts";
import { type AppContext, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { listMethods } from "#worker/lib/number-adapters.ts";
import { completeProofAndNotify } from "./complete-proof.ts";
import { isSameHash, toCodeHash } from "./proof-hashes.ts";
import { deleteNumberNotice, findNumber, takeCodeAttempt } from "./queries.ts";
import { isVouchingOffered, serveNumberChallenge, startNumberProof } from "./start-proof.ts";

const readOwnNumber = async (c: AppContext): Promise<OwnNumber> => {
  const now = Date.now();
  const own = await findNumber(openDb(c.env), c.var.caller.user, now);
  const { phone = "", handle = null, verified_at = null, contested_at = null, refusedMethod = null } = own ?? {};
  const methods = listMethods(c.env, phone);
  const vouching = own?.vouching ? { proof: own.vouching, confirmed: own.vouches } : null;
  if (own && (vouching || (await isVouchingOffered(c, own, now)))) methods.push("vouching");
  return {
    phone,
    handle,
    verified_at,
    methods,
    contested_until: contested_at === null ? null : contested_at + numberContestDays * dayMs,
    refused_method: refusedMethod,
    is_vouched: own?.verified_by === "vouching",
    vouching,
  };
};

export const numberRoutes = createRoutes()
  .get(
    "/number",
    describeOperation({
      tag: "people",
      summary: "One's own number, whether it is verified, and by which methods it can be",
      ok: { status: 200, body: OwnNumber },
      refusals: [],
    }),
    authenticate,
    async (c) => c.json(await readOwnNumber(c), 200),
  )
  .delete(
    "/number/notices/:userId",
    describeOperation({
      tag: "people",
      summary: "Confirm what happened to a contact's number, on all own devices",
      ok: { status: 200, body: Relation },
      refusals: ["invalid_input", "user_not_found", "forbidden_origin"],
    }),
    authenticate,
    validate("param", v.object({ userId: Uuid })),
    limitCaller("contact_change_by_user"),
    async (c) => {
      const me = c.var.caller.user;
      const db = openDb(c.env);
      const { userId } = c.req.valid("param");
      await deleteNumberNotice(db, me, userId);
      const relation = await findRelation(db, me, userId);
      pushPendingAfterResponse(c, "push a confirmed notice to own devices", [me]);
      return relation?.state === "contact" ? c.json(relation, 200) : refuse(c, "user_not_found");
    },
  )
  .post(
    "/number/methods",
    describeOperation({
      tag: "people",
      summary: "Methods by which a new number of one's own can be verified, whether or not somebody has it",
      ok: { status: 200, body: NewNumberMethods },
      refusals: ["invalid_input", "forbidden_origin"],
    }),
    authenticate,
    validate("json", NewNumber),
    (c) => {
      const { phone } = c.req.valid("json");
      return c.json({ phone, methods: listMethods(c.env, phone) }, 200);
    },
  )
  .post(
    "/number/challenge",
    describeOperation({
      tag: "people",
      summary:
        "Proof-of-work challenge for a code to one's own number or a new one, harder as the day's codes are used up",
      ok: { status: 200, body: Challenge },
      refusals: ["invalid_input", "forbidden_origin"],
    }),
    authenticate,
    validate("json", NumberChallengeRequest),
    async (c) => c.json(await serveNumberChallenge(c, c.req.valid("json").phone), 200),
  )
  .post(
    "/number/proofs",
    describeOperation({
      tag: "people",
      summary:
        "Start to prove one's own number, or a new one: the answer says what to do next. It replaces an earlier start, and is valid in this session for ten minutes, or a day by vouching. A code needs a proof of work",
      ok: { status: 201, body: NumberProof },
      refusals: [
        "invalid_input",
        "reauthentication_needed",
        "captcha_failed",
        "number_already_verified",
        "number_method_unavailable",
        "number_proofs_used_up",
        "number_call_expected",
        "number_code_not_sent",
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("json", NumberProofStart),
    async (c) => {
      const started = await startNumberProof(c, c.req.valid("json"));
      return "proof" in started ? c.json(started.proof, 201) : refuse(c, started.refusal, started);
    },
  )
  .post(
    "/number/proofs/:id/code",
    describeOperation({
      tag: "people",
      summary: "Complete the proof of one's own number with the code that was sent to it; five attempts",
      ok: { status: 200, body: OwnNumber },
      refusals: ["invalid_input", "number_code_wrong", "number_proof_expired", "number_in_use", "forbidden_origin"],
    }),
    authenticate,
    validate("param", v.object({ id: Uuid }), "number_proof_expired"),
    validate("json", NumberCodeCheck, "number_code_wrong"),
    async (c) => {
      const db = openDb(c.env);
      const { id } = c.req.valid("param");
      const { user, session } = c.var.caller;
      const proof = await takeCodeAttempt(db, { id, user, session, now: Date.now() });
      if (!proof || proof.code_hash === null) return refuse(c, "number_proof_expired");
      if (!isSameHash(proof.code_hash, toCodeHash(c.env, id, c.req.valid("json").code)))
        return refuse(c, "number_code_wrong");
      const outcome = await completeProofAndNotify(c, proof);
      if (outcome === "expired") return refuse(c, "number_proof_expired");
      if (outcome === "in_use") return refuse(c, "number_in_use");
      return c.json(await readOwnNumber(c), 200);
    },
  );
