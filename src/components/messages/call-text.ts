// @unocss-include – the icons below are classes, and only component files are searched for those by default.
import type { CallBody, CallKind } from "#contract/calls/call.ts";
import type { Translate } from "#i18n/setup.ts";
import { isolate } from "#lib/text/bidi.ts";

/** Whose line of a call it is. */
export type CallSide = {
  /** This person called. */
  isMine: boolean;
  /** What the other one is called. */
  name: string;
};

type Outcome = "missed" | "cancelled" | "declined" | "declinedBy" | "ended" | "busy" | "failed";

/** What the line of a call says, in the words of one of its two sides (SPEC.md §4 Call). */
export type CallLine = {
  icon: string;
  text: string;
  /** How long they talked; undefined when they did not. */
  length: string | undefined;
  /** In red: it did not come about though somebody wanted it. */
  isBad: boolean;
};

const secondsPerMinute = 60;

/** Who was talked to was reached, whatever came then; and what could not be done nobody declined or gave up. */
const outcomeOf = ({ status, reason }: CallBody, { isMine, name }: CallSide): Outcome => {
  if (status === "ended") return "ended";
  if (!isMine && (status === "missed" || reason === "busy")) return "missed";
  if (reason !== undefined) return reason;
  if (status === "rejected") return isMine && name !== "" ? "declinedBy" : "declined";
  return "cancelled";
};

const iconOf = (kind: CallKind, outcome: Outcome, isMine: boolean): string => {
  if (kind === "video") return outcome === "missed" ? "i-ph-video-camera-slash" : "i-ph-video-camera";
  if (outcome === "missed") return "i-ph-phone-x";
  return isMine ? "i-ph-phone-outgoing" : "i-ph-phone-incoming";
};

const lengthOf = (whole: number, t: Translate): string => {
  const minutes = Math.floor(whole / secondsPerMinute);
  const seconds = whole % secondsPerMinute;
  return minutes === 0 ? t("callLines.seconds", { seconds }) : t("callLines.minutes", { minutes, seconds });
};

export const callLine = (body: CallBody, side: CallSide, t: Translate): CallLine => {
  const outcome = outcomeOf(body, side);
  return {
    icon: iconOf(body.kind, outcome, side.isMine),
    text: t(`callLines.outcomes.${body.kind}.${outcome}`, { name: isolate(side.name) }),
    length: body.status === "ended" && body.seconds > 0 ? lengthOf(body.seconds, t) : undefined,
    isBad: outcome === "missed" || outcome === "declined" || outcome === "declinedBy",
  };
};

/** The same on one line. */
export const describeCall = ({ text, length }: CallLine, t: Translate): string =>
  length === undefined ? text : t("callLines.withLength", { text, length });
