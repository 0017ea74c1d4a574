import { type MouseEvent, useLayoutEffect } from "react";
import { useTranslation } from "react-i18next";
import { acceptCall, hangUp, rejectCall, restore } from "#calls/actions.ts";
import type { CallKind } from "#contract/calls/call.ts";
import type { TextKey } from "#i18n/setup.ts";
import { isOfTaking, noteEndShown, noteTaken, swallowSecondTap } from "./double-tap.ts";

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

/** One tap is one deed, also when it is made twice: what comes in the place of the button is not pressed by it. */
export const pressing = (act: Act, run: () => void) => (event: MouseEvent<HTMLElement>) => {
  const { nativeEvent } = event;
  if (act === "hangUp" && isOfTaking(nativeEvent)) return;
  if (act === "accept") noteTaken(nativeEvent);
  swallowSecondTap(nativeEvent);
  run();
};

type CallActProps = {
  act: Act;
  kind: CallKind;
  /** With its word, as wide as there is room; without it is round. */
  isWide?: boolean;
  className?: string;
  /** What it does instead, where the call is not this tab's. */
  onPress?: () => void;
};

/** What takes a call, refuses it or ends it, in the colour that each has everywhere. */
export function CallAct({ act, kind, isWide = false, className = "", onPress }: CallActProps) {
  const { t } = useTranslation();
  const { label, look, run } = acts[act];
  useLayoutEffect(() => {
    if (act === "hangUp") noteEndShown();
  }, [act]);
  const name = isWide ? {} : { "aria-label": t(label), title: t(label) };
  return (
    <button
      type="button"
      data-act={act}
      {...name}
      className={`${isWide ? wide : round} ${look} ${className} rounded-full text-white hover:opacity-90`}
      onClick={pressing(act, onPress ?? (() => run(kind)))}
    >
      <span className={`${iconOf(act, kind)} ${isWide ? "text-[26px]" : ""}`} aria-hidden="true" />
      {isWide && t(label)}
    </button>
  );
}
