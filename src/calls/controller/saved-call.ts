import * as v from "valibot";
import { MediaPreferences, silentPreferences } from "#calls/media/media-preferences.ts";
import { CallKind, DeviceId } from "#contract/calls/call.ts";
import type { CallState } from "#contract/calls/local-call.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";

/** `call-state.ts` reads the same key before this module is loaded. */
const storageKey = "call";

const SavedCall = v.object({
  me: Uuid,
  /** Device id of this browser in the call. */
  device: DeviceId,
  id: Uuid,
  conversation: ConversationId,
  peer: Uuid,
  kind: CallKind,
  isCaller: v.boolean(),
  /** Phase of the call at the time of saving. Earlier versions of the app read it under this name. */
  at: v.picklist(["outgoing", "connecting", "connected"]),
  /** Time the call was connected. */
  since: v.optional(v.number()),
  /** Data use so far. */
  bytes: v.number(),
  /** Kept so that a muted microphone and a camera that is off stay so. */
  choices: v.optional(MediaPreferences, silentPreferences),
  /** Time this page was last alive. */
  aliveAt: v.number(),
});
export type SavedCall = v.InferOutput<typeof SavedCall>;

/** Whether this page has the call: it was dialled or accepted here. */
export const isOwned = (state: CallState): state is Extract<CallState, { phase: SavedCall["at"] }> =>
  state.phase === "outgoing" || state.phase === "connecting" || state.phase === "connected";

type PageStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Copy of a page's call in sessionStorage, so that the same tab resumes it after a reload. */
export class SavedCallStore {
  readonly #storage: PageStorage | undefined;
  readonly #userId: Uuid;

  constructor(storage: PageStorage | undefined, userId: Uuid) {
    this.#storage = storage;
    this.#userId = userId;
  }

  read(): SavedCall | undefined {
    try {
      const saved = v.safeParse(SavedCall, JSON.parse(this.#storage?.getItem(storageKey) ?? "null"));
      if (saved.success && saved.output.me === this.#userId) return saved.output;
    } catch {
      // Unreadable, or storage is forbidden.
    }
    this.clear();
    return undefined;
  }

  save(state: CallState, page: Pick<SavedCall, "device" | "bytes" | "choices" | "aliveAt">): void {
    if (!isOwned(state)) {
      this.clear();
      return;
    }
    const since = "since" in state ? state.since : undefined;
    const saved: SavedCall = { me: this.#userId, ...state.call, at: state.phase, since, ...page };
    try {
      this.#storage?.setItem(storageKey, JSON.stringify(saved));
    } catch {
      // No room, or storage is forbidden. An older copy would lack the latest preferences, so the copy is removed and a
      // reload loses the call.
      this.clear();
    }
  }

  clear(): void {
    try {
      this.#storage?.removeItem(storageKey);
    } catch {
      // Storage is forbidden.
    }
  }
}
