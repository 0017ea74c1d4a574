import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";

/** Events reported to the person's other devices. */
const securityEvents = [
  "signed_in",
  "session_reused", // a refresh token was used twice: one of two holders is not the person
  "password_changed",
  "factor_added",
  "factor_removed",
  "passkey_added",
  "passkey_removed",
  "passkey_step_on",
  "passkey_step_off",
  "recovery_codes_made",
  "email_added",
  "email_changed",
  "email_removed",
  "identity_linked",
  "identity_unlinked",
  "reset_started",
  "reset_cancelled",
  "reset_done",
  "number_changed",
  "number_lost", // somebody else verified it
  "number_contested", // somebody else proved it, and the person is asked to verify it again
] as const;

export const SecurityNotice = v.object({
  id: Uuid,
  event: v.picklist(securityEvents),
  at: v.number(),
  /** Session that caused the event and need not be notified. */
  session: v.nullable(Uuid),
  device: v.string(),
  /** For `reset_started`: time at which the reset takes effect. */
  due_at: v.optional(v.number()),
});
export type SecurityNotice = v.InferOutput<typeof SecurityNotice>;

/** Whether a notice announces a reset of the second factor that is still pending, judging by these notices. */
export const isResetUnderWay = (notice: SecurityNotice, all: readonly SecurityNotice[], now: number): boolean => {
  if (notice.event !== "reset_started" || (notice.due_at ?? 0) <= now) return false;
  const isOver = ({ event, at }: SecurityNotice) =>
    at >= notice.at && (event === "reset_cancelled" || event === "reset_done");
  return !all.some(isOver);
};
