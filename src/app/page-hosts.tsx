import { CallHost } from "#features/calls/host/call-host.tsx";
import { VoiceBarHost } from "#features/chat/attachments/voice-bar-host.tsx";
import { NotifierHost } from "./notifier-host.tsx";
import { SecurityNotesHost } from "./security-notes-host.tsx";

/** Hosts on every page of a call, a playing voice message, alerts and notifications, which show them while they last. */
export default function PageHosts({ pathname, isListShown }: { pathname: string; isListShown: boolean }) {
  return (
    <>
      <CallHost />
      <VoiceBarHost pathname={pathname} />
      <SecurityNotesHost />
      <NotifierHost pathname={pathname} isListShown={isListShown} />
    </>
  );
}
