import { type MouseEvent, useLayoutEffect } from "react";
import { useTranslation } from "react-i18next";
import { acceptCall, hangUpCall, rejectCall, restoreCall } from "#calls/actions.ts";
import type { CallKind } from "#contract/calls/call.ts";
import type { TextKey } from "#i18n/setup.ts";
import { isDoubleTapOfAccept, recordAccept, recordHangUpShown, swallowSecondTap } from "./double-tap.ts";

type CallAction = "accept" | "decline" | "hangUp";

/** Shows the call screen after accepting a video call; an audio call continues beside the current screen. */
const acceptAndShow = (kind: CallKind): void => {
  acceptCall();
  if (kind === "video") restoreCall();
};

const callActions: Record<CallAction, { label: TextKey; look: string; run: (kind: CallKind) => void }> = {
  accept: { label: "calls.accept", look: "bg-accept", run: acceptAndShow },
  decline: { label: "calls.decline", look: "bg-danger", run: () => rejectCall() },
  hangUp: { label: "calls.hangUp", look: "bg-danger", run: () => hangUpCall() },
};
const getActionIcon = (action: CallAction, kind: CallKind): string => {
  if (action === "accept") return kind === "video" ? "i-ph-video-camera-fill" : "i-ph-phone-fill";
  return action === "decline" ? "i-ph-phone-x-fill" : "i-ph-phone-disconnect-fill";
};

const roundLook = "grid size-12 shrink-0 place-items-center text-[24px]";
const wideLook = "inline-flex min-h-14 min-w-fit flex-1 items-center justify-center gap-2 px-4 py-2 font-semibold";

/** Creates a click handler that treats a double tap as one: the second tap does not reach what replaces the button. */
export const createPressHandler = (action: CallAction, run: () => void) => (event: MouseEvent<HTMLElement>) => {
  const { nativeEvent } = event;
  if (action === "hangUp" && isDoubleTapOfAccept(nativeEvent)) return;
  if (action === "accept") recordAccept(nativeEvent);
  swallowSecondTap(nativeEvent);
  run();
};

type CallActionButtonProps = {
  action: CallAction;
  kind: CallKind;
  /** Shows the label and fills the available width; otherwise the button is round with an icon only. */
  isWide?: boolean;
  className?: string;
  /** Replaces the default action, for a call of another tab. */
  onPress?: () => void;
};

/** Button that accepts, declines or ends a call, in the colour used for that action everywhere. */
export function CallActionButton({ action, kind, isWide = false, className = "", onPress }: CallActionButtonProps) {
  const { t } = useTranslation();
  const { label, look, run } = callActions[action];
  useLayoutEffect(() => {
    if (action === "hangUp") recordHangUpShown();
  }, [action]);
  const name = isWide ? {} : { "aria-label": t(label), title: t(label) };
  return (
    <button
      type="button"
      data-act={action}
      {...name}
      className={`${isWide ? wideLook : roundLook} ${look} ${className} rounded-full text-white hover:opacity-90`}
      onClick={createPressHandler(action, onPress ?? (() => run(kind)))}
    >
      <span className={`${getActionIcon(action, kind)} ${isWide ? "text-[26px]" : ""}`} aria-hidden="true" />
      {isWide && t(label)}
    </button>
  );
}
