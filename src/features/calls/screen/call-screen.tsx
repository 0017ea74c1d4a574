import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { selectDevice } from "#calls/actions.ts";
import { getCallStatusKey } from "#calls/ui/call-status-text.ts";
import { bytesPerMinute, dataUseMinBytes, formatMegabytes } from "#calls/ui/data-cost.ts";
import { minimizeWithFocus } from "#calls/ui/minimize-focus.ts";
import { useCallDuration } from "#calls/use-call-duration.ts";
import type { CallView } from "#calls/views.ts";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Modal } from "#components/overlays/modal.tsx";
import { Toaster } from "#components/overlays/toast.tsx";
import { Avatar } from "#components/people/avatar.tsx";
import type { AvatarPerson } from "#components/people/avatar-text.ts";
import { useNextCamera } from "#features/calls/hooks/use-next-camera.ts";
import type { AudioOutput } from "#features/calls/hooks/use-remote-audio.ts";
import { CallControls } from "./call-controls.tsx";
import { CallWarningLines } from "./call-warning-lines.tsx";
import type { CallWarning } from "./call-warnings.ts";
import DeviceSheet from "./device-sheet.tsx";
import { LocalPreview } from "./local-preview.tsx";
import { MessagesStrip } from "./messages-strip.tsx";
import type { PreviewPosition } from "./preview-position.ts";
import { QualityBars } from "./quality-bars.tsx";
import { isLargeText, useIsShortScreen } from "./screen-size.ts";
import { CallVideo } from "./video.tsx";

export type CallScreenProps = {
  call: CallView;
  /** State of the call; an ended call has no screen. */
  state: Exclude<CallView["state"], { phase: "ended" }>;
  person: AvatarPerson;
  name: string;
  warnings: CallWarning[];
  /** Whether the server cannot be reached. */
  isServerUnreachable: boolean;
  audioOutput: AudioOutput;
  /** Starts playing audio blocked by the browser. Must be called within a tap. */
  onUnblock: (() => void) | undefined;
  /** Ends the call and records a voice message. */
  onVoiceMessage: () => void;
  previewPosition: PreviewPosition | undefined;
  onPreviewMove: (position: PreviewPosition) => void;
  onPictureInPicture: (() => void) | undefined;
};

const largePx = 22; // the largest text of the appearance settings is 23
const avatarPx = { high: 144, filmed: 96, low: 64 };

/** Data use: per minute at first, in total once that is worth showing. */
function DataUseText({ call: { state, media } }: { call: CallView }) {
  const { t } = useTranslation();
  const { kind } = state.call;
  if (state.phase === "connected" && media.bytes >= dataUseMinBytes) {
    return t("calls.used", { amount: formatMegabytes(media.bytes) });
  }
  return t("calls.perMinute", { amount: formatMegabytes(bytesPerMinute[kind]) });
}

/** Full-screen view of a call (SPEC.md §2). Closing it, by Escape too, minimizes the call and never ends it. */
export function CallScreen({ call, state, person, name, warnings, audioOutput, ...props }: CallScreenProps) {
  const { media } = call;
  const { t } = useTranslation();
  const id = useId();
  const [panel, setPanel] = useState<HTMLElement | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const [isDeviceSheetOpen, setDeviceSheetOpen] = useState(false);
  const time = useCallDuration(state);
  const isVideo = state.call.kind === "video";
  const isShort = useIsShortScreen();
  const isLarge = isLargeText(largePx);
  const isTight = isShort || isLarge;
  // Three answer buttons in large text leave room for text only.
  const isCrowded = isLarge && isVideo && state.phase === "ringing";
  const isUp = state.phase === "connected";
  const isSteady = isUp && state.interruptedAt === undefined;
  const hasRemoteVideo = isVideo && media.peer.hasVideo && media.remote !== undefined && isUp && !media.isVoiceOnly;
  const hasPreview = isVideo && media.local !== undefined && media.camera === "on";
  const nextCamera = useNextCamera(hasPreview && isUp, media.local);
  const status = t(getCallStatusKey(state));
  // In little room the local preview moves along the right edge, and text keeps clear of it.
  const isPreviewBeside = hasPreview && !hasRemoteVideo && isTight;
  const isRow = isShort || isPreviewBeside;
  const hasAvatar = !isCrowded && !(isPreviewBeside && isLarge);
  // Whatever a video may lie under, or be moved over, stays clear of it.
  const hasVideo = hasRemoteVideo || hasPreview;
  const iconLook = hasRemoteVideo ? "bg-black/50 hover:!bg-white/20" : "";

  // The pressed button disappears with its phase.
  const focusedPhase = useRef<typeof state.phase>(undefined);
  useEffect(() => {
    if (focusedPhase.current === state.phase) return;
    focusedPhase.current = state.phase;
    if (document.activeElement === document.body || document.activeElement?.tagName === "DIALOG")
      heading.current?.focus();
  }, [state.phase]);

  const timer = isUp && (
    <p role="timer" aria-label={t("calls.time")} className="text-lg tabular-nums">
      {time}
    </p>
  );
  const bars = isUp && <QualityBars quality={media.quality} />;
  const identity: ReactNode = (
    <>
      <h2
        id={`${id}-name`}
        ref={heading}
        tabIndex={-1}
        data-autofocus
        className={`max-w-full font-bold break-words focus-visible:outline-none ${hasRemoteVideo ? "truncate text-lg" : `line-clamp-2 ${isTight ? "text-xl leading-tight" : "text-2xl"}`}`}
      >
        <bdi>{name}</bdi>
      </h2>
      {!isSteady && <p className={hasRemoteVideo ? "" : "text-lg leading-tight"}>{status}</p>}
      {hasRemoteVideo ? (
        <div className="flex items-center">
          {timer}
          {bars}
        </div>
      ) : (
        timer
      )}
      {props.isServerUnreachable && !isUp && (
        <p role="status" className="late my-1 rounded-card bg-raised px-3 py-2 text-sm leading-tight text-text">
          {t(state.phase === "ringing" ? "calls.awayRinging" : "calls.away")}
        </p>
      )}
    </>
  );
  const warningLines = (
    <CallWarningLines
      warnings={warnings}
      name={name}
      onUnblock={props.onUnblock}
      onVoiceMessage={props.onVoiceMessage}
    />
  );
  return (
    <Modal
      {...(state.phase === "ringing" ? { role: "alertdialog" as const } : {})}
      labelledBy={`${id}-name`}
      describedBy={`${id}-status`}
      className="m-0 size-full max-h-none max-w-none overflow-hidden bg-bg p-0 text-text"
      onDismiss={minimizeWithFocus}
    >
      <div className="flex h-full items-center justify-center">
        <div
          ref={setPanel}
          className={`relative flex size-full flex-col overflow-hidden sm:max-h-[700px] sm:max-w-[512px] sm:rounded-bubble sm:border sm:border-line sm:shadow-xl ${hasRemoteVideo ? "bg-black text-white" : "entry-ground bg-surface"}`}
        >
          <Toaster place="call" />
          <p id={`${id}-status`} role="status" className="sr-only">
            {status}
          </p>
          {hasRemoteVideo && media.remote && (
            <CallVideo stream={media.remote} fits className="absolute inset-0 size-full" />
          )}
          {hasPreview && media.local && panel && (
            <LocalPreview
              stream={media.local}
              panel={panel}
              isTight={isTight}
              savedPosition={props.previewPosition}
              onMove={props.onPreviewMove}
            />
          )}
          <header
            data-part="header"
            className={`relative z-3 flex shrink-0 flex-wrap items-start gap-x-1 px-2 pt-[max(8px,env(safe-area-inset-top))] pb-2 ${hasRemoteVideo ? "bg-gradient-to-b from-black/70 to-transparent" : ""}`}
          >
            <IconButton
              icon="i-ph-caret-down-bold"
              label={t("calls.minimise")}
              className={iconLook}
              onClick={minimizeWithFocus}
            />
            <MessagesStrip
              isOverVideo={hasRemoteVideo}
              className={hasRemoteVideo ? "order-last min-w-0 basis-full" : "min-w-0 flex-1"}
            />
            {hasRemoteVideo && (
              <div className="min-w-0 flex-1 leading-tight">
                <div className="w-fit max-w-full rounded-card bg-black/60 px-2 py-1">{identity}</div>
              </div>
            )}
            {!hasRemoteVideo && <span className="flex h-12 items-center">{bars}</span>}
            {nextCamera && (
              <IconButton
                icon="i-ph-camera-rotate"
                label={t("calls.turnCamera")}
                className={iconLook}
                onClick={() => selectDevice("videoinput", nextCamera)}
              />
            )}
            {props.onPictureInPicture && (
              <IconButton
                icon="i-ph-picture-in-picture"
                label={t("calls.popOut")}
                className={iconLook}
                onClick={props.onPictureInPicture}
              />
            )}
            {isUp && (
              <IconButton
                icon="i-ph-sliders-horizontal"
                label={t(isVideo ? "calls.devices.open" : "calls.devices.openAudio")}
                className={iconLook}
                onClick={() => setDeviceSheetOpen(true)}
              />
            )}
          </header>
          <div className="relative flex min-h-0 flex-1 flex-col items-center gap-3 overflow-y-auto overscroll-contain px-4 pb-2 text-center">
            {!hasRemoteVideo && (
              <>
                <div
                  className={`flex shrink-0 items-center ${isRow ? "gap-4 text-left" : `flex-col ${isLarge ? "" : "pt-6"}`} ${hasPreview ? (isRow ? "mr-auto" : "") : "my-auto"} ${isPreviewBeside ? "max-w-[calc(100%-92px)]" : "max-w-full"}`}
                >
                  {hasAvatar && (
                    <span className={`rounded-full ${isTight ? "" : "mb-6"} ${isUp || isRow ? "" : "call-pulse"}`}>
                      <Avatar person={person} size={avatarPx[isTight ? "low" : hasPreview ? "filmed" : "high"]} />
                    </span>
                  )}
                  <div className={`flex min-w-0 max-w-full flex-col gap-1 ${isRow ? "" : "items-center"}`}>
                    {identity}
                    {!hasVideo && (
                      <p className="text-sm leading-tight text-muted">
                        <DataUseText call={call} />
                      </p>
                    )}
                  </div>
                </div>
                {!hasVideo && warningLines}
              </>
            )}
          </div>
          <div
            data-part="controls"
            className={`relative z-3 flex shrink-0 flex-col gap-3 px-4 pt-2 pb-[max(16px,env(safe-area-inset-bottom))] ${hasRemoteVideo ? "bg-gradient-to-t from-black/80 to-transparent" : ""}`}
          >
            {hasVideo && (
              <>
                {warningLines}
                <p
                  className={`self-center text-sm ${hasRemoteVideo ? "rounded-full bg-black/60 px-3 py-1" : "text-muted"}`}
                >
                  <DataUseText call={call} />
                </p>
              </>
            )}
            <CallControls call={call} audioOutput={audioOutput} isOverVideo={hasRemoteVideo} isShort={isShort} />
          </div>
        </div>
      </div>
      {isDeviceSheetOpen && (
        <DeviceSheet
          hasVideo={isVideo}
          audioOutput={audioOutput}
          media={media}
          selected={call.devices}
          onClose={() => setDeviceSheetOpen(false)}
        />
      )}
    </Modal>
  );
}
