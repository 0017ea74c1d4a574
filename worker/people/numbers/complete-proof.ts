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

/** Asks people to verify their number. A call can be repeated at no cost, so what it causes is limited. */
const askToVerify = async (c: AppContext, { asked, isContest }: Extract<Completion, { outcome: "in_use" }>) => {
  for (const person of asked) {
    if (!isContest && !(await takeToken(openDb(c.env), person, "number_asked_by_user")).ok) continue;
    sendSecurityNotice(c, person, { event: "number_contested", ...elsewhere });
    if (isContest)
      mailSecurityNotice(c, person, (to, language) => createNumberContestedMail(to, language, numberContestDays));
  }
};

/** Completes a proof, and tells everybody whom it concerns: the holders of the number, and the contacts of both. */
export const completeProofAndNotify = async (c: AppContext, proof: NumberProofRow): Promise<Completion["outcome"]> => {
  const db = openDb(c.env);
  const completion = await completeNumberProof(db, proof);
  if (completion.outcome === "in_use") await askToVerify(c, completion);
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
