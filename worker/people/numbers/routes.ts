import * as v from "valibot";
import { NumberCodeCheck, NumberProof, NumberProofStart, OwnNumber } from "#contract/auth/number.ts";
import { Uuid } from "#contract/ids.ts";
import { openDb } from "#worker/db/client.ts";
import { type AppContext, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { listMethods } from "./adapters.ts";
import { isSameHash, toCodeHash } from "./proof-hashes.ts";
import { completeNumberProof, findNumber, takeCodeAttempt } from "./queries.ts";
import { startNumberProof } from "./start-proof.ts";

const readOwnNumber = async (c: AppContext): Promise<OwnNumber> => {
  const own = (await findNumber(openDb(c.env), c.var.caller.user)) ?? { phone: "", verified_at: null };
  return { ...own, methods: listMethods(c.env, own.phone) };
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
  .post(
    "/number/proofs",
    describeOperation({
      tag: "people",
      summary:
        "Start to prove one's own number: the answer says what to do next. It replaces an earlier start, and is valid for ten minutes in this session",
      ok: { status: 201, body: NumberProof },
      refusals: [
        "invalid_input",
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
      const started = await startNumberProof(c, c.req.valid("json").method);
      return "proof" in started ? c.json(started.proof, 201) : refuse(c, started.refusal, started);
    },
  )
  .post(
    "/number/proofs/:id/code",
    describeOperation({
      tag: "people",
      summary: "Complete the proof of one's own number with the code that was sent to it; five attempts",
      ok: { status: 200, body: OwnNumber },
      refusals: ["invalid_input", "number_code_wrong", "number_proof_expired", "forbidden_origin"],
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
      if (!(await completeNumberProof(db, proof))) return refuse(c, "number_proof_expired");
      return c.json(await readOwnNumber(c), 200);
    },
  );
