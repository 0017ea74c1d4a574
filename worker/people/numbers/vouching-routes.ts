import { OpenedVouching, VouchingToken } from "#contract/auth/vouching.ts";
import { openDb } from "#worker/db/client.ts";
import { createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { completeProofAndNotify } from "./complete-proof.ts";
import { toVouchingLookup } from "./proof-hashes.ts";
import { toVouchingAsk } from "./start-proof.ts";
import { findVouching, insertVouch } from "./vouching-queries.ts";

export const vouchingRoutes = createRoutes()
  // The token may be in an address: it is of no use to anybody but an old contact of its person.
  .get(
    "/vouching/:token",
    describeOperation({
      tag: "people",
      summary: "The contact whose code this is, and the number to confirm; for that person the code itself",
      ok: { status: 200, body: OpenedVouching },
      refusals: ["vouching_not_found", "voucher_contact_too_new", "voucher_number_too_new", "vouches_used_up"],
    }),
    authenticate,
    validate("param", VouchingToken, "vouching_not_found"),
    limitCaller("link_search_by_user"),
    async (c) => {
      const { token } = c.req.valid("param");
      const lookup = toVouchingLookup(c.env, token);
      const found = await findVouching(openDb(c.env), c.var.caller.user, lookup, Date.now());
      const { proof, hasConfirmed, refusal, ownProof } = found;
      if (ownProof) {
        const { id, phone, expires_at } = ownProof;
        return c.json({ own: { id, expires_at, ask: toVouchingAsk(c, token) }, phone }, 200);
      }
      if (!proof || refusal) return refuse(c, refusal ?? "vouching_not_found");
      return c.json({ user_id: proof.user_id, phone: proof.phone, has_confirmed: hasConfirmed }, 200);
    },
  )
  .put(
    "/vouching/:token",
    describeOperation({
      tag: "people",
      summary:
        "Confirm that the contact whose code this is has the number. The second confirmation verifies it; repeating one's own changes nothing",
      ok: { status: 204, body: null },
      refusals: [
        "vouching_not_found",
        "voucher_contact_too_new",
        "voucher_number_too_new",
        "vouches_used_up",
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("param", VouchingToken, "vouching_not_found"),
    limitCaller("link_search_by_user"),
    async (c) => {
      const db = openDb(c.env);
      const me = c.var.caller.user;
      const now = Date.now();
      const lookup = toVouchingLookup(c.env, c.req.valid("param").token);
      const { proof, hasConfirmed, refusal } = await findVouching(db, me, lookup, now);
      if (!proof && hasConfirmed) return c.body(null, 204); // repeated after the proof was completed
      if (!proof || refusal) return refuse(c, refusal ?? "vouching_not_found");
      const { isStored, isEnough } = await insertVouch(db, me, lookup, now);
      if (isEnough) await completeProofAndNotify(c, proof);
      if (isStored) return c.body(null, 204);
      // Something changed meanwhile, such as the number of confirmations that the same person gave.
      return refuse(c, (await findVouching(db, me, lookup, now)).refusal ?? "vouching_not_found");
    },
  );
