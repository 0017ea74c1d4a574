import type { ComponentProps } from "react";
import { useTranslation } from "react-i18next";
import { acceptCall, setCameraOn, setMuted, setRemoteVideoWanted } from "#calls/actions.ts";
import { CallActionButton, createPressHandler } from "#calls/ui/call-action-button.tsx";
import type { CallView } from "#calls/views.ts";
import type { AudioOutput } from "#features/calls/hooks/use-remote-audio.ts";

type CallControlsProps = {
  call: CallView;
  sound: AudioOutput;
  /** They stand over a picture. */
  isSeen: boolean;
  /** There is little height: all in one row, as far as it goes. */
  isLow: boolean;
};

type ToggleProps = { icon: string; label: string; isOn: boolean; isSeen: boolean } & ComponentProps<"button">;

/** A round button, filled while what its label says holds: muted, the camera off, voice only, the speaker. */
function Toggle({ icon, label, isOn, isSeen, ...props }: ToggleProps) {
  const look = isOn
    ? isSeen
      ? "bg-white text-black"
      : "bg-text text-bg"
    : isSeen
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

function Answering({ call: { state }, isLow }: Pick<CallControlsProps, "call" | "isLow">) {
  const { t } = useTranslation();
  const { kind } = state.call;
  return (
    <div className={`flex gap-3 ${isLow ? "flex-wrap justify-center" : "flex-col"}`}>
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
        <CallActionButton isWide act="decline" kind={kind} />
        <CallActionButton isWide act="accept" kind={kind} />
      </div>
    </div>
  );
}

function Toggles({ call: { state, media }, sound, isSeen }: CallControlsProps) {
  const { t } = useTranslation();
  const { isVoiceOnly } = media;
  const isVideo = state.call.kind === "video";
  const isMuted = media.mic !== "on";
  // One's own wish, also while it is not seen: why, is said beside.
  const isFilmed = ["on", "waiting", "lowBandwidth", "unwanted"].includes(media.camera);
  return (
    <div className="flex justify-center gap-5">
      <Toggle
        icon={isMuted ? "i-ph-microphone-slash-fill" : "i-ph-microphone-fill"}
        label={t("calls.mute")}
        isOn={isMuted}
        isSeen={isSeen}
        disabled={media.mic === "waiting"}
        onClick={() => setMuted(!isMuted)}
      />
      {isVideo ? (
        <Toggle
          icon={isFilmed ? "i-ph-video-camera-fill" : "i-ph-video-camera-slash-fill"}
          label={t("calls.camera")}
          isOn={!isFilmed}
          isSeen={isSeen}
          disabled={media.camera === "waiting"}
          onClick={() => {
            setCameraOn(!isFilmed);
          }}
        />
      ) : (
        sound.toggleSpeaker && (
          <Toggle
            icon={sound.selectedId === "" ? "i-ph-speaker-simple-high-fill" : "i-ph-speaker-high-fill"}
            label={t("calls.speaker")}
            isOn={sound.selectedId !== ""}
            isSeen={isSeen}
            onClick={() => void sound.toggleSpeaker?.()}
          />
        )
      )}
      {isVideo && (
        <Toggle
          icon="i-ph-waveform-bold"
          label={t("calls.voiceOnly")}
          isOn={isVoiceOnly}
          isSeen={isSeen}
          onClick={() => setRemoteVideoWanted(isVoiceOnly)}
        />
      )}
    </div>
  );
}

/** What can be done with a call as it stands (SPEC.md §2). */
export function CallControls(props: CallControlsProps) {
  const { state } = props.call;
  if (state.at === "ringing") return <Answering call={props.call} isLow={props.isLow} />;
  return (
    <div className={`flex gap-x-5 gap-y-3 ${props.isLow ? "flex-wrap justify-center" : "flex-col"}`}>
      {state.at === "connected" && <Toggles {...props} />}
      <div className="flex grow justify-center">
        <CallActionButton isWide act="hangUp" kind={state.call.kind} className="max-w-72" />
      </div>
    </div>
  );
}
