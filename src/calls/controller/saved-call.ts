import * as v from "valibot";
import { MediaPreferences, silentPreferences } from "#calls/media/media-preferences.ts";
import { CallKind, DeviceId } from "#contract/calls/call.ts";
import type { CallState } from "#contract/calls/call-machine.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";

/** The key is known to `call-state.ts` too, which looks for it before anything of this is loaded. */
const storageKey = "call";

const SavedCall = v.object({
  me: Uuid,
  /** This browser's name in it. */
  device: DeviceId,
  id: Uuid,
  conversation: ConversationId,
  peer: Uuid,
  kind: CallKind,
  isCaller: v.boolean(),
  /** How far it was. */
  at: v.picklist(["outgoing", "connecting", "connected"]),
  /** When it was connected. */
  since: v.optional(v.number()),
  /** What it took by then. */
  bytes: v.number(),
  /** What was muted, switched off or not wanted stays so. */
  choices: v.optional(MediaPreferences, silentPreferences),
  /** When this page was last alive. */
  aliveAt: v.number(),
});
export type SavedCall = v.InferOutput<typeof SavedCall>;

/** A call that this page has, begun or accepted in it. */
export const isOwned = (state: CallState): state is Extract<CallState, { at: SavedCall["at"] }> =>
  state.at === "outgoing" || state.at === "connecting" || state.at === "connected";

type PageStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** The call of a page, kept so that the same tab takes it up again when it is loaded anew. */
export class SavedCallStore {
  readonly #storage: PageStorage | undefined;
  readonly #userId: Uuid;

  constructor(storage: PageStorage | undefined, me: Uuid) {
    this.#storage = storage;
    this.#userId = me;
  }

  read(): SavedCall | undefined {
    try {
      const kept = v.safeParse(SavedCall, JSON.parse(this.#storage?.getItem(storageKey) ?? "null"));
      if (kept.success && kept.output.me === this.#userId) return kept.output;
    } catch {
      // Nothing that could be read.
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
    const kept: SavedCall = { me: this.#userId, ...state.call, at: state.at, since, ...page };
    try {
      this.#storage?.setItem(storageKey, JSON.stringify(kept));
    } catch {
      // No room, or it is forbidden. What stood there before says nothing of what was chosen since: a page loaded anew
      // has lost its call.
      this.clear();
    }
  }

  clear(): void {
    try {
      this.#storage?.removeItem(storageKey);
    } catch {
      // It is forbidden.
    }
  }
}
