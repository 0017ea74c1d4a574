import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router";
import { dismissEndedCall } from "#calls/actions.ts";
import CallBar from "#calls/ui/call-bar.tsx";
import { getCallStatusKey } from "#calls/ui/call-status-text.ts";
import { minimizeWithFocus } from "#calls/ui/minimize-focus.ts";
import type { CallNotice, CallView } from "#calls/views.ts";
import { IconButton } from "#components/controls/icon-button.tsx";
import { PageNotice } from "#components/overlays/toast-stack.tsx";
import type { AvatarPerson } from "#components/people/avatar.tsx";
import { toDisplayName } from "#components/people/person-name.ts";
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
import { useProfile } from "#sync/hooks/use-profile.ts";
import { useDeferredRing } from "./use-deferred-ring.ts";

const unknownPerson: AvatarPerson = { username: "", phone: "", avatar: null };

type CallLayerProps = {
  call: CallView;
  /** What there is to say of its end. */
  said: CallNotice | undefined;
  /** Nothing more is to be told of a call that ended. */
  onLeave: () => void;
};

/** One call from its first ring to its end: its sound, and whatever of it shows. */
function LiveCall({ call, said, onLeave }: CallLayerProps) {
  const { state, media, isMinimized } = call;
  const { kind, peer } = state.call;
  const { t } = useTranslation();
  const { pathname } = useLocation();
  const [look] = useProfile(peer);
  const person = look.state === "found" ? look.person : unknownPerson;
  const name = person.username || person.phone || toDisplayName(person, t);

  const [worked, setWorked] = useState({ mic: false, camera: false });
  const nowWorked = updateWorkingDevices(worked, media);
  if (nowWorked !== worked) setWorked(nowWorked);
  const [spot, setSpot] = useState<PreviewPosition>();

  const isAway = useShownLink() !== "online";
  const isOver = state.at === "ended";
  const isRinging = state.at === "ringing";
  const isHeld = useDeferredRing(isRinging, isMinimized);
  const { element, isBlocked, play, sound } = useRemoteAudio(
    isOver ? undefined : media.remote,
    call.devices.audiooutput,
  );
  useWakeLock(!isOver && !isRinging);
  useMediaSession(call, name);
  useTitleHint(state.at === "ringing" ? `${t(getCallStatusKey(state))} – ${name}` : undefined);
  // A picture that nobody looks at does not come, and would for a window of its own.
  const wouldCome = isMinimized && state.at === "connected" && !media.isVoiceOnly && !media.peer.isCameraOff;
  const hasPicture = kind === "video" && !isOver && (media.peer.hasVideo || wouldCome);
  const { openPictureInPicture, isPictureInPicture } = usePictureInPicture(hasPicture ? media.remote : undefined, name);
  useRemoteVideoVisibility(
    state.at,
    kind === "audio" || isPictureInPicture ? "always" : isMinimized ? "nowhere" : "page",
  );

  return (
    <>
      {/* biome-ignore lint/a11y/useMediaCaption: two people talk; nobody has captions of that */}
      <audio ref={element} autoPlay hidden />
      {state.at === "ended" && (
        <PageNotice>
          <EndCard
            call={state}
            bytes={media.bytes}
            person={person}
            name={name}
            said={said}
            onLeave={() => {
              dismissEndedCall();
              onLeave();
            }}
          />
        </PageNotice>
      )}
      {state.at !== "ended" && !isMinimized && !isHeld && (
        <CallScreen
          call={call}
          state={state}
          person={person}
          name={name}
          troubles={listCallWarnings(call, nowWorked, isAway)}
          isAway={isAway}
          sound={sound}
          onUnblock={isBlocked ? play : undefined}
          spot={spot}
          onSpot={setSpot}
          onPopOut={
            openPictureInPicture &&
            (() => {
              openPictureInPicture();
              minimizeWithFocus();
            })
          }
        />
      )}
      {/* In the chat with this person stands a banner of its own. */}
      {!isOver && isMinimized && pathname !== `/app/chat/${peer}` && (
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

/** Another call is another one altogether: nothing of what was chosen in the one before holds in it. */
export default function CallLayer(props: CallLayerProps) {
  return <LiveCall key={props.call.state.call.id} {...props} />;
}
