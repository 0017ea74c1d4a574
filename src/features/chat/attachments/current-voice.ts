import type { Uuid } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";

/** Voice message that plays or was paused. `path`: its chat. `label`: its sender, kind and time. */
export type VoiceTrack = { file: Uuid; ms: number; path: string; label: string };

/** Kept apart from the player, so that its code need not be loaded where nothing plays. */
export const currentVoice = new Observable<VoiceTrack | undefined>(undefined);
