import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router";
import { leaveEnded } from "#calls/actions.ts";
import CallBar from "#calls/ui/call-bar.tsx";
import { statusKey } from "#calls/ui/call-status-text.ts";
import { putAway } from "#calls/ui/minimize-focus.ts";
import type { CallSaying, CallView } from "#calls/views.ts";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Note } from "#components/overlays/toast-stack.tsx";
import type { AvatarPerson } from "#components/people/avatar.tsx";
import { nameOfPerson } from "#components/people/person-name.ts";
import { EndCard } from "#features/calls/end/end-card.tsx";
import { useMediaSession, useSeen, useTitleHint, useWakeLock } from "#features/calls/hooks/use-device-integration.ts";
import { usePopOut } from "#features/calls/hooks/use-pop-out.ts";
import { useRemoteSound } from "#features/calls/hooks/use-remote-audio.ts";
import { CallScreen } from "#features/calls/screen/call-screen.tsx";
import type { Spot } from "#features/calls/screen/preview-position.ts";
import { troublesOf, workedAfter } from "#features/calls/screen/troubles.ts";
import { isolate } from "#lib/text/bidi.ts";
import { useShownLink } from "#sync/hooks/use-connection.ts";
import { useProfile } from "#sync/hooks/use-profile.ts";
import { useHeldRing } from "./use-deferred-ring.ts";

const nobody: AvatarPerson = { username: "", phone: "", avatar: null };

type CallLayerProps = {
  call: CallView;
  /** What there is to say of its end. */
  said: CallSaying | undefined;
  /** Nothing more is to be told of a call that ended. */
  onLeave: () => void;
};

/** One call from its first ring to its end: its sound, and whatever of it shows. */
function LiveCall({ call, said, onLeave }: CallLayerProps) {
  const { state, media, isMinimised } = call;
  const { kind, peer } = state.call;
  const { t } = useTranslation();
  const { pathname } = useLocation();
  const [look] = useProfile(peer);
  const person = look.state === "found" ? look.person : nobody;
  const name = person.username || person.phone || nameOfPerson(person, t);

  const [worked, setWorked] = useState({ mic: false, camera: false });
  const nowWorked = workedAfter(worked, media);
  if (nowWorked !== worked) setWorked(nowWorked);
  const [spot, setSpot] = useState<Spot>();

  const isAway = useShownLink() !== "online";
  const isOver = state.at === "ended";
  const isRinging = state.at === "ringing";
  const isHeld = useHeldRing(isRinging, isMinimised);
  const { element, isBlocked, play, sound } = useRemoteSound(
    isOver ? undefined : media.remote,
    call.devices.audiooutput,
  );
  useWakeLock(!isOver && !isRinging);
  useMediaSession(call, name);
  useTitleHint(state.at === "ringing" ? `${t(statusKey(state))} – ${name}` : undefined);
  // A picture that nobody looks at does not come, and would for a window of its own.
  const wouldCome = isMinimised && state.at === "connected" && !media.isVoiceOnly && !media.peer.isCameraOff;
  const hasPicture = kind === "video" && !isOver && (media.peer.hasVideo || wouldCome);
  const { popOut, isOut } = usePopOut(hasPicture ? media.remote : undefined, name);
  useSeen(state.at, kind === "audio" || isOut ? "always" : isMinimised ? "nowhere" : "page");

  return (
    <>
      {/* biome-ignore lint/a11y/useMediaCaption: two people talk; nobody has captions of that */}
      <audio ref={element} autoPlay hidden />
      {state.at === "ended" && (
        <Note>
          <EndCard
            call={state}
            bytes={media.bytes}
            person={person}
            name={name}
            said={said}
            onLeave={() => {
              leaveEnded();
              onLeave();
            }}
          />
        </Note>
      )}
      {state.at !== "ended" && !isMinimised && !isHeld && (
        <CallScreen
          call={call}
          state={state}
          person={person}
          name={name}
          troubles={troublesOf(call, nowWorked, isAway)}
          isAway={isAway}
          sound={sound}
          onUnblock={isBlocked ? play : undefined}
          spot={spot}
          onSpot={setSpot}
          onPopOut={
            popOut &&
            (() => {
              popOut();
              putAway();
            })
          }
        />
      )}
      {/* In the chat with this person stands a banner of its own. */}
      {!isOver && isMinimised && pathname !== `/app/chat/${peer}` && (
        <CallBar call={call} name={isolate(name)}>
          {popOut && (
            <IconButton
              icon="i-ph-picture-in-picture"
              label={t("calls.popOut")}
              className="text-accent"
              onClick={popOut}
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
