import { inCall } from "#calls/call-state.ts";
import type { ConversationId } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";

type VoiceMessageRequest = { conversation: ConversationId; at: number };

const requestLifetimeMs = 10_000; // a chat that opens later must not record anybody unawares

/** Wish to record a voice message in a chat instead of waiting for an answer. Lives in memory only. */
export const voiceMessageRequest = new Observable<VoiceMessageRequest | undefined>(undefined);

/** Asks the chat with the other person to record a voice message, once the call has ended. */
export const requestVoiceMessage = (conversation: ConversationId): void =>
  voiceMessageRequest.set({ conversation, at: performance.now() });

/** Takes the wish to record in a chat, once no call uses the microphone. Returns whether there was one. */
export const takeVoiceMessageRequest = (conversation: ConversationId): boolean => {
  const request = voiceMessageRequest.get();
  if (request?.conversation !== conversation || inCall.get()) return false;
  voiceMessageRequest.set(undefined);
  return performance.now() - request.at < requestLifetimeMs;
};
