// @unocss-include – the icons below are CSS classes, and UnoCSS scans only component files by default.
import type { CallBody, CallKind } from "#contract/calls/call.ts";
import type { Translate } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";

/** Perspective of one side of a call. */
export type CallPerspective = {
  /** This user was the caller. */
  isMine: boolean;
  /** Display name of the peer. */
  peerName: string;
};

type CallOutcome = "missed" | "cancelled" | "declined" | "declinedBy" | "ended" | "busy" | "failed" | "unanswered";

/** Text and icon of a call entry, from the perspective of one side. */
export type CallEntry = {
  icon: string;
  text: string;
  /** Formatted duration; undefined if the call was not answered. */
  duration: string | undefined;
  /** Missed or declined; shown in red. */
  isUnsuccessful: boolean;
};

const secondsPerMinute = 60;

/**
 * Outcome for one side. An answered call counts as ended, whatever its reason. A busy callee has missed the call. A
 * failed call is neither declined nor cancelled.
 */
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

const formatCallDuration = (totalSeconds: number, t: Translate): string => {
  const minutes = Math.floor(totalSeconds / secondsPerMinute);
  const seconds = totalSeconds % secondsPerMinute;
  return minutes === 0 ? t("callLines.seconds", { seconds }) : t("callLines.minutes", { minutes, seconds });
};

export const toCallEntry = (body: CallBody, perspective: CallPerspective, t: Translate): CallEntry => {
  const outcome = toCallOutcome(body, perspective);
  return {
    icon: toCallIcon(body.kind, outcome, perspective.isMine),
    text: t(`callLines.outcomes.${body.kind}.${outcome}`, { name: isolateBidi(perspective.peerName) }),
    duration: body.status === "ended" && body.seconds > 0 ? formatCallDuration(body.seconds, t) : undefined,
    isUnsuccessful: outcome === "missed" || outcome === "declined" || outcome === "declinedBy",
  };
};

/** Call entry on one line. */
export const formatCallEntry = ({ text, duration }: CallEntry, t: Translate): string =>
  duration === undefined ? text : t("callLines.withLength", { text, length: duration });
