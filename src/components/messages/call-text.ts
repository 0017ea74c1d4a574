// @unocss-include – the icons below are classes, and only component files are searched for those by default.
import type { CallBody, CallKind } from "#contract/calls/call.ts";
import type { Translate } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";

/** Whose line of a call it is. */
export type CallPerspective = {
  /** This person called. */
  isMine: boolean;
  /** What the other one is called. */
  peerName: string;
};

type CallOutcome = "missed" | "cancelled" | "declined" | "declinedBy" | "ended" | "busy" | "failed";

/** What the line of a call says, in the words of one of its two sides (SPEC.md §4 Call). */
export type CallEntry = {
  icon: string;
  text: string;
  /** How long they talked; undefined when they did not. */
  duration: string | undefined;
  /** In red: it did not come about though somebody wanted it. */
  isUnsuccessful: boolean;
};

const secondsPerMinute = 60;

/** Who was talked to was reached, whatever came then; and what could not be done nobody declined or gave up. */
const toCallOutcome = ({ status, reason }: CallBody, { isMine, peerName }: CallPerspective): CallOutcome => {
  if (status === "ended") return "ended";
  if (!isMine && (status === "missed" || reason === "busy")) return "missed";
  if (reason !== undefined) return reason;
  if (status === "rejected") return isMine && peerName !== "" ? "declinedBy" : "declined";
  return "cancelled";
};

const toCallIcon = (kind: CallKind, outcome: CallOutcome, isMine: boolean): string => {
  if (kind === "video") return outcome === "missed" ? "i-ph-video-camera-slash" : "i-ph-video-camera";
  if (outcome === "missed") return "i-ph-phone-x";
  return isMine ? "i-ph-phone-outgoing" : "i-ph-phone-incoming";
};

const formatCallDuration = (whole: number, t: Translate): string => {
  const minutes = Math.floor(whole / secondsPerMinute);
  const seconds = whole % secondsPerMinute;
  return minutes === 0 ? t("callLines.seconds", { seconds }) : t("callLines.minutes", { minutes, seconds });
};

export const toCallEntry = (body: CallBody, side: CallPerspective, t: Translate): CallEntry => {
  const outcome = toCallOutcome(body, side);
  return {
    icon: toCallIcon(body.kind, outcome, side.isMine),
    text: t(`callLines.outcomes.${body.kind}.${outcome}`, { name: isolateBidi(side.peerName) }),
    duration: body.status === "ended" && body.seconds > 0 ? formatCallDuration(body.seconds, t) : undefined,
    isUnsuccessful: outcome === "missed" || outcome === "declined" || outcome === "declinedBy",
  };
};

/** The same on one line. */
export const formatCallEntry = ({ text, duration }: CallEntry, t: Translate): string =>
  duration === undefined ? text : t("callLines.withLength", { text, length: duration });
