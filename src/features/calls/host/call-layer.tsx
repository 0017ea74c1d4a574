import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation, useNavigate } from "react-router";
import { dismissEndedCall, hangUpCall } from "#calls/actions.ts";
import CallBar from "#calls/ui/call-bar.tsx";
import { getCallStatusKey } from "#calls/ui/call-status-text.ts";
import { minimizeWithFocus } from "#calls/ui/minimize-focus.ts";
import { requestVoiceMessage } from "#calls/ui/voice-message-request.ts";
import type { CallNotice, CallView } from "#calls/views.ts";
import { IconButton } from "#components/controls/icon-button.tsx";
import { unknownPerson } from "#components/people/avatar-text.ts";
import { toDisplayName, toNameOrNumber } from "#components/people/person-name.ts";
import { EndCard } from "#features/calls/end/end-card.tsx";
import {
  useMediaSession,
  useRemoteVideoVisibility,
  useTitleHint,
  useWakeLock,
} from "#features/calls/hooks/use-device-integration.ts";
import { usePictureInPicture } from "#features/calls/hooks/use-picture-in-picture.ts";
import { useRemoteAudio } from "#features/calls/hooks/use-remote-audio.ts";
import { CallScreen } from "#features/calls/screen/call-screen.tsx";
import { listCallWarnings, updateWorkingDevices } from "#features/calls/screen/call-warnings.ts";
import type { PreviewPosition } from "#features/calls/screen/preview-position.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { useShownLink } from "#sync/hooks/use-connection.ts";
import { useProfile } from "#sync/hooks/use-people.ts";
import { useDeferredRing } from "./use-deferred-ring.ts";

type CallLayerProps = {
  call: CallView;
  /** Notice about the end of the call. */
  notice: CallNotice | undefined;
  /** Removes the end card. */
  onLeave: () => void;
};

/** One call from its first ring to its end: its audio and everything it shows. */
function LiveCall({ call, notice, onLeave }: CallLayerProps) {
  const { state, media, isMinimized } = call;
  const { kind, peer, conversation } = state.call;
  const { t } = useTranslation();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const chatPath = `/app/chat/${peer}`;
  const [profile] = useProfile(peer);
  const person = profile.state === "found" ? profile.person : unknownPerson;
  const name = toNameOrNumber(person) || toDisplayName(person, t);

  const [workedBefore, setWorkedBefore] = useState({ mic: false, camera: false });
  const worked = updateWorkingDevices(workedBefore, media);
  if (worked !== workedBefore) setWorkedBefore(worked);
  const [previewPosition, setPreviewPosition] = useState<PreviewPosition>();

  const isServerUnreachable = useShownLink() !== "online";
  const hasEnded = state.phase === "ended";
  const isRinging = state.phase === "ringing";
  const isDeferred = useDeferredRing(isRinging, isMinimized);
  const { element, isBlocked, play, audioOutput } = useRemoteAudio(
    hasEnded ? undefined : media.remote,
    call.devices.audiooutput,
  );
  useWakeLock(!hasEnded && !isRinging);
  useMediaSession(call, name);
  useTitleHint(state.phase === "ringing" ? `${t(getCallStatusKey(state))} – ${name}` : undefined);
  // Invisible remote video is not sent, but would be for a picture-in-picture window.
  const isVideoAvailable = isMinimized && state.phase === "connected" && !media.isVoiceOnly && !media.peer.isCameraOff;
  const hasPicture = kind === "video" && !hasEnded && (media.peer.hasVideo || isVideoAvailable);
  const { openPictureInPicture, isPictureInPicture } = usePictureInPicture(hasPicture ? media.remote : undefined, name);
  useRemoteVideoVisibility(
    state.phase,
    kind === "audio" || isPictureInPicture ? "always" : isMinimized ? "nowhere" : "page",
  );

  return (
    <>
      {/* biome-ignore lint/a11y/useMediaCaption: two people talk; nobody has captions of that */}
      <audio ref={element} autoPlay hidden />
      {state.phase === "ended" && (
        <EndCard
          call={state}
          bytes={media.bytes}
          person={person}
          name={name}
          notice={notice}
          onLeave={() => {
            dismissEndedCall();
            onLeave();
          }}
        />
      )}
      {state.phase !== "ended" && !isMinimized && !isDeferred && (
        <CallScreen
          call={call}
          state={state}
          person={person}
          name={name}
          warnings={listCallWarnings(call, worked, isServerUnreachable)}
          isServerUnreachable={isServerUnreachable}
          audioOutput={audioOutput}
          onUnblock={isBlocked ? play : undefined}
          onVoiceMessage={() => {
            requestVoiceMessage(conversation);
            hangUpCall();
            if (pathname !== chatPath) navigate(chatPath);
          }}
          previewPosition={previewPosition}
          onPreviewMove={setPreviewPosition}
          onPictureInPicture={
            openPictureInPicture &&
            (() => {
              openPictureInPicture();
              minimizeWithFocus();
            })
          }
        />
      )}
      {/* The chat with this person shows a banner of its own. */}
      {!hasEnded && isMinimized && pathname !== chatPath && (
        <CallBar call={call} name={isolateBidi(name)}>
          {openPictureInPicture && (
            <IconButton
              icon="i-ph-picture-in-picture"
              label={t("calls.popOut")}
              className="text-accent"
              onClick={openPictureInPicture}
            />
          )}
        </CallBar>
      )}
    </>
  );
}

/** Resets all state for each call. */
export default function CallLayer(props: CallLayerProps) {
  return <LiveCall key={props.call.state.call.id} {...props} />;
}
