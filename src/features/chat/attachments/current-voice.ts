import type { ConversationId } from "#contract/ids.ts";
import type { Body } from "#contract/messages/body.ts";
import { Observable } from "#lib/browser/observable.ts";

/** Voice message that is loaded, plays or was paused. `path`: its chat. `label`: its sender, kind and time. */
export type VoiceTrack = {
  conversation: ConversationId;
  body: Extract<Body, { type: "voice" }>;
  path: string;
  label: string;
};

/** Kept apart from the player, so that its code need not be loaded where nothing plays. */
export const currentVoice = new Observable<VoiceTrack | undefined>(undefined);
