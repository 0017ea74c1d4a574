import * as v from "valibot";
import { Choices, quietChoices } from "#calls/media/media-preferences.ts";
import { CallKind, Device } from "#contract/calls/call.ts";
import type { CallState } from "#contract/calls/call-machine.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";

/** The key is known to `call-state.ts` too, which looks for it before anything of this is loaded. */
const key = "call";

const KeptCall = v.object({
  me: Uuid,
  /** This browser's name in it. */
  device: Device,
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
  choices: v.optional(Choices, quietChoices),
  /** When this page was last alive. */
  aliveAt: v.number(),
});
export type KeptCall = v.InferOutput<typeof KeptCall>;

/** A call that this page has, begun or accepted in it. */
export const isOwned = (state: CallState): state is Extract<CallState, { at: KeptCall["at"] }> =>
  state.at === "outgoing" || state.at === "connecting" || state.at === "connected";

type PageStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** The call of a page, kept so that the same tab takes it up again when it is loaded anew. */
export class CallKeeper {
  readonly #storage: PageStorage | undefined;
  readonly #me: Uuid;

  constructor(storage: PageStorage | undefined, me: Uuid) {
    this.#storage = storage;
    this.#me = me;
  }

  read(): KeptCall | undefined {
    try {
      const kept = v.safeParse(KeptCall, JSON.parse(this.#storage?.getItem(key) ?? "null"));
      if (kept.success && kept.output.me === this.#me) return kept.output;
    } catch {
      // Nothing that could be read.
    }
    this.forget();
    return undefined;
  }

  write(state: CallState, page: Pick<KeptCall, "device" | "bytes" | "choices" | "aliveAt">): void {
    if (!isOwned(state)) {
      this.forget();
      return;
    }
    const since = "since" in state ? state.since : undefined;
    const kept: KeptCall = { me: this.#me, ...state.call, at: state.at, since, ...page };
    try {
      this.#storage?.setItem(key, JSON.stringify(kept));
    } catch {
      // No room, or it is forbidden. What stood there before says nothing of what was chosen since: a page loaded anew
      // has lost its call.
      this.forget();
    }
  }

  forget(): void {
    try {
      this.#storage?.removeItem(key);
    } catch {
      // It is forbidden.
    }
  }
}
