import { useEffect, useEffectEvent } from "react";
import { inCall } from "#calls/call-state.ts";
import { takeVoiceMessageRequest, voiceMessageRequest } from "#calls/ui/voice-message-request.ts";
import type { ConversationId } from "#contract/ids.ts";

/** Starts the recording that a person asked for on the screen of a call, once the call is over and closed. */
export const useVoiceMessageRequest = (conversation: ConversationId, startRecording: () => void): void => {
  const start = useEffectEvent(startRecording);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const check = () => {
      if (takeVoiceMessageRequest(conversation)) timer = setTimeout(() => start());
    };
    check();
    const unsubscribers = [inCall.subscribe(check), voiceMessageRequest.subscribe(check)];
    return () => {
      clearTimeout(timer);
      for (const unsubscribe of unsubscribers) unsubscribe();
    };
  }, [conversation]);
};
