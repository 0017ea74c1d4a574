import type { CallKind } from "../../contract/calls";
import { type TextKey, useT } from "../i18n/setup";
import { acceptCall, hangUp, rejectCall, restore } from "./actions";

type Act = "accept" | "decline" | "hangUp";

/** Whoever takes a picture wants to see it; a voice goes on beside whatever they do. */
const accept = (kind: CallKind): void => {
  acceptCall();
  if (kind === "video") restore();
};

const acts: Record<Act, { label: TextKey; look: string; run: (kind: CallKind) => void }> = {
  accept: { label: "calls.accept", look: "bg-accept", run: accept },
  decline: { label: "calls.decline", look: "bg-danger", run: () => rejectCall() },
  hangUp: { label: "calls.hangUp", look: "bg-danger", run: () => hangUp() },
};
const iconOf = (act: Act, kind: CallKind): string => {
  if (act === "accept") return kind === "video" ? "i-ph-video-camera-fill" : "i-ph-phone-fill";
  return act === "decline" ? "i-ph-phone-x-fill" : "i-ph-phone-disconnect-fill";
};

const round = "grid size-12 shrink-0 place-items-center text-[24px]";
const wide = "inline-flex min-h-14 min-w-fit flex-1 items-center justify-center gap-2 px-4 py-2 font-semibold";

type CallActProps = {
  act: Act;
  kind: CallKind;
  /** With its word, as wide as there is room; without it is round. */
  isWide?: boolean;
  className?: string;
};

/** What takes a call, refuses it or ends it, in the colour that each has everywhere. */
export function CallAct({ act, kind, isWide = false, className = "" }: CallActProps) {
  const t = useT();
  const { label, look, run } = acts[act];
  const name = isWide ? {} : { "aria-label": t(label), title: t(label) };
  return (
    <button
      type="button"
      {...name}
      className={`${isWide ? wide : round} ${look} ${className} rounded-full text-white hover:opacity-90`}
      onClick={() => run(kind)}
    >
      <span className={`${iconOf(act, kind)} ${isWide ? "text-[26px]" : ""}`} aria-hidden="true" />
      {isWide && t(label)}
    </button>
  );
}
