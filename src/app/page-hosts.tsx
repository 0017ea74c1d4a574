import { CallHost } from "#features/calls/host/call-host.tsx";
import { VoiceBarHost } from "#features/chat/attachments/voice-bar-host.tsx";
import { NotifierHost } from "./notifier-host.tsx";
import { SecurityNotesHost } from "./security-notes-host.tsx";

/** What appears on every page while there is such a thing: a call, a playing voice message, alerts, notifications. */
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
