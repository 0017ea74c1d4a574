import type { ComponentProps } from "react";
import { useTranslation } from "react-i18next";
import { acceptCall, setCameraOn, setMuted, setRemoteVideoWanted } from "#calls/actions.ts";
import { CallActionButton, createPressHandler } from "#calls/ui/call-action-button.tsx";
import type { CallView } from "#calls/views.ts";
import type { AudioOutput } from "#features/calls/hooks/use-remote-audio.ts";

type CallControlsProps = {
  call: CallView;
  audioOutput: AudioOutput;
  /** The controls lie over the remote video. */
  isOverVideo: boolean;
  /** Little height: everything in one row as far as possible. */
  isShort: boolean;
};

type ToggleProps = { icon: string; label: string; isOn: boolean; isOverVideo: boolean } & ComponentProps<"button">;

/** Round toggle button, filled while its label applies: muted, camera off, audio only, speaker. */
function Toggle({ icon, label, isOn, isOverVideo, ...props }: ToggleProps) {
  const look = isOn
    ? isOverVideo
      ? "bg-white text-black"
      : "bg-text text-bg"
    : isOverVideo
      ? "border border-white/30 bg-black/55 text-white"
      : "bg-raised text-text";
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      aria-pressed={isOn}
      className={`grid size-14 shrink-0 place-items-center rounded-full text-[26px] disabled:opacity-40 ${look}`}
      {...props}
    >
      <span className={icon} aria-hidden="true" />
    </button>
  );
}

function Answering({ call: { state }, isShort }: Pick<CallControlsProps, "call" | "isShort">) {
  const { t } = useTranslation();
  const { kind } = state.call;
  return (
    <div className={`flex gap-3 ${isShort ? "flex-wrap justify-center" : "flex-col"}`}>
      {kind === "video" && (
        <button
          type="button"
          className="inline-flex min-h-12 items-center justify-center gap-2 self-center rounded-full bg-raised px-6 py-2 font-semibold text-text"
          onClick={createPressHandler("accept", () => {
            setCameraOn(false);
            acceptCall();
          })}
        >
          <span className="i-ph-video-camera-slash-fill text-xl" aria-hidden="true" />
          {t("calls.acceptVoice")}
        </button>
      )}
      <div className="flex grow flex-wrap gap-3">
        <CallActionButton isWide action="decline" kind={kind} />
        <CallActionButton isWide action="accept" kind={kind} />
      </div>
    </div>
  );
}

function Toggles({ call: { state, media }, audioOutput, isOverVideo }: CallControlsProps) {
  const { t } = useTranslation();
  const { isVoiceOnly } = media;
  const isVideo = state.call.kind === "video";
  const isMuted = media.mic !== "on";
  // The person's own choice, even if the video is not sent; a warning says why.
  const isCameraOn = ["on", "waiting", "lowBandwidth", "unwanted"].includes(media.camera);
  return (
    <div className="flex justify-center gap-5">
      <Toggle
        icon={isMuted ? "i-ph-microphone-slash-fill" : "i-ph-microphone-fill"}
        label={t("calls.mute")}
        isOn={isMuted}
        isOverVideo={isOverVideo}
        disabled={media.mic === "waiting"}
        onClick={() => setMuted(!isMuted)}
      />
      {isVideo ? (
        <Toggle
          icon={isCameraOn ? "i-ph-video-camera-fill" : "i-ph-video-camera-slash-fill"}
          label={t("calls.camera")}
          isOn={!isCameraOn}
          isOverVideo={isOverVideo}
          disabled={media.camera === "waiting"}
          onClick={() => {
            setCameraOn(!isCameraOn);
          }}
        />
      ) : (
        audioOutput.toggleSpeaker && (
          <Toggle
            icon={audioOutput.selectedId === "" ? "i-ph-speaker-simple-high-fill" : "i-ph-speaker-high-fill"}
            label={t("calls.speaker")}
            isOn={audioOutput.selectedId !== ""}
            isOverVideo={isOverVideo}
            onClick={() => void audioOutput.toggleSpeaker?.()}
          />
        )
      )}
      {isVideo && (
        <Toggle
          icon="i-ph-waveform-bold"
          label={t("calls.voiceOnly")}
          isOn={isVoiceOnly}
          isOverVideo={isOverVideo}
          onClick={() => setRemoteVideoWanted(isVoiceOnly)}
        />
      )}
    </div>
  );
}

/** Controls of a call, depending on its state (SPEC.md §2). */
export function CallControls(props: CallControlsProps) {
  const { state } = props.call;
  if (state.phase === "ringing") return <Answering call={props.call} isShort={props.isShort} />;
  return (
    <div className={`flex gap-x-5 gap-y-3 ${props.isShort ? "flex-wrap justify-center" : "flex-col"}`}>
      {state.phase === "connected" && <Toggles {...props} />}
      <div className="flex grow justify-center">
        <CallActionButton isWide action="hangUp" kind={state.call.kind} className="max-w-72" />
      </div>
    </div>
  );
}
