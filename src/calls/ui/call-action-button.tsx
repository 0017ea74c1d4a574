import { type MouseEvent, useLayoutEffect } from "react";
import { useTranslation } from "react-i18next";
import { acceptCall, hangUpCall, rejectCall, restoreCall } from "#calls/actions.ts";
import type { CallKind } from "#contract/calls/call.ts";
import type { TextKey } from "#i18n/setup.ts";
import { isDoubleTapOfAccept, recordAccept, recordHangUpShown, swallowSecondTap } from "./double-tap.ts";

type CallAction = "accept" | "decline" | "hangUp";

/** Whoever takes a picture wants to see it; a voice goes on beside whatever they do. */
const acceptAndShow = (kind: CallKind): void => {
  acceptCall();
  if (kind === "video") restoreCall();
};

const callActions: Record<CallAction, { label: TextKey; look: string; run: (kind: CallKind) => void }> = {
  accept: { label: "calls.accept", look: "bg-accept", run: acceptAndShow },
  decline: { label: "calls.decline", look: "bg-danger", run: () => rejectCall() },
  hangUp: { label: "calls.hangUp", look: "bg-danger", run: () => hangUpCall() },
};
const getActionIcon = (act: CallAction, kind: CallKind): string => {
  if (act === "accept") return kind === "video" ? "i-ph-video-camera-fill" : "i-ph-phone-fill";
  return act === "decline" ? "i-ph-phone-x-fill" : "i-ph-phone-disconnect-fill";
};

const roundLook = "grid size-12 shrink-0 place-items-center text-[24px]";
const wideLook = "inline-flex min-h-14 min-w-fit flex-1 items-center justify-center gap-2 px-4 py-2 font-semibold";

/** One tap is one deed, also when it is made twice: what comes in the place of the button is not pressed by it. */
export const createPressHandler = (act: CallAction, run: () => void) => (event: MouseEvent<HTMLElement>) => {
  const { nativeEvent } = event;
  if (act === "hangUp" && isDoubleTapOfAccept(nativeEvent)) return;
  if (act === "accept") recordAccept(nativeEvent);
  swallowSecondTap(nativeEvent);
  run();
};

type CallActionButtonProps = {
  act: CallAction;
  kind: CallKind;
  /** With its word, as wide as there is room; without it is round. */
  isWide?: boolean;
  className?: string;
  /** What it does instead, where the call is not this tab's. */
  onPress?: () => void;
};

/** What takes a call, refuses it or ends it, in the colour that each has everywhere. */
export function CallActionButton({ act, kind, isWide = false, className = "", onPress }: CallActionButtonProps) {
  const { t } = useTranslation();
  const { label, look, run } = callActions[act];
  useLayoutEffect(() => {
    if (act === "hangUp") recordHangUpShown();
  }, [act]);
  const name = isWide ? {} : { "aria-label": t(label), title: t(label) };
  return (
    <button
      type="button"
      data-act={act}
      {...name}
      className={`${isWide ? wideLook : roundLook} ${look} ${className} rounded-full text-white hover:opacity-90`}
      onClick={createPressHandler(act, onPress ?? (() => run(kind)))}
    >
      <span className={`${getActionIcon(act, kind)} ${isWide ? "text-[26px]" : ""}`} aria-hidden="true" />
      {isWide && t(label)}
    </button>
  );
}
