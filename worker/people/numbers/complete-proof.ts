import { numberContestDays } from "#contract/limits/phone-numbers.ts";
import { mailSecurityNotice, sendSecurityNotice } from "#worker/auth/security-notices.ts";
import { openDb } from "#worker/db/client.ts";
import { pushUpdatesAbout } from "#worker/lib/contact-updates.ts";
import { type AppContext, runAfterResponse } from "#worker/lib/http/app.ts";
import { takeToken } from "#worker/lib/limits/rate-limit.ts";
import { createNumberContestedMail, createNumberLostMail } from "#worker/mail/number-mail.ts";
import { findNumber, type NumberProofRow } from "./queries.ts";
import { type Completion, completeNumberProof } from "./transfer.ts";

/** Notices name no device: somebody else's, or none, changed the number. */
const elsewhere = { session: null, device: "" };

/** Completes a proof, and tells everybody whom it concerns: the holders of the number, and the contacts of both. */
export const completeProofAndNotify = async (c: AppContext, proof: NumberProofRow): Promise<Completion["outcome"]> => {
  const db = openDb(c.env);
  const completion = await completeNumberProof(db, proof);
  for (const asked of completion.outcome === "in_use" ? completion.asked : []) {
    // A call can be repeated at no cost.
    if (!completion.isContest && !(await takeToken(db, asked, "number_asked_by_user")).ok) continue;
    sendSecurityNotice(c, asked, { event: "number_contested", ...elsewhere });
    if (completion.isContest)
      mailSecurityNotice(c, asked, (to, language) => createNumberContestedMail(to, language, numberContestDays));
  }
  if (completion.outcome !== "verified") return completion.outcome;
  const { formerHolders, isChange } = completion;
  if (isChange)
    sendSecurityNotice(c, proof.user_id, { event: "number_changed", session: proof.session_id, device: "" });
  for (const holder of formerHolders) {
    const handle = (await findNumber(db, holder))?.handle ?? "";
    sendSecurityNotice(c, holder, { event: "number_lost", ...elsewhere });
    mailSecurityNotice(c, holder, (to, language) => createNumberLostMail(to, language, handle));
  }
  for (const changed of [...formerHolders, proof.user_id])
    runAfterResponse(c.executionCtx, "push a number to contacts", pushUpdatesAbout(c.env, changed));
  return completion.outcome;
};
