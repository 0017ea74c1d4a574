import type { Call, CallFrame } from "../../contract/calls";

/** What the server tells of calls: something that happened, or all that are under way, by its clock. */
export type CallNews = CallFrame["payload"] | { event_type: "standing"; calls: Call[]; now: number };

type Listener = (news: CallNews) => void;

/** Hands what is told of calls to whoever listens in this tab. */
export class CallWire {
  readonly #listeners = new Set<Listener>();

  tell(news: CallNews): void {
    for (const listener of [...this.#listeners]) listener(news);
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
