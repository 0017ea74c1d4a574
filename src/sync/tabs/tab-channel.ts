import { type ErrorCode, isErrorCode } from "#contract/errors.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import type { CommandResults } from "#contract/wire/commands.ts";
import type { CallNews } from "#sync/calls/call-feed.ts";
import type { Asked } from "#sync/connection/asked-command.ts";
import type { Channel, Platform } from "#sync/platform/platform.ts";
import { asSyncError, SyncError } from "#sync/platform/sync-error.ts";
import type { Typist } from "#sync/presence/typing.ts";
import type { LinkState } from "#sync/store/views.ts";

/** What the tabs of one person tell each other. */
type PeerMessage =
  | { type: "written" }
  | { type: "read" | "opened" | "say-typing"; conversation: ConversationId }
  | { type: "typing"; typist: Typist; isOn: boolean } // from the leader: somebody types, or stopped
  | { type: "presence-turned" } // from the leader: whether somebody is here is to be asked anew
  | { type: "call"; news: CallNews } // from the leader, but for "taken"
  | { type: "look"; tab: Uuid; isOn: boolean } // a tab is looked at, or no more
  | { type: "which-calls" } // from a tab that has just been opened
  | { type: "woke" }
  | { type: "who" }
  | { type: "link"; state: LinkState } // from the leader only: also its sign of life
  | { type: "ended" } // signed out, the local data goes
  | { type: "ask"; id: string; command: Asked }
  | { type: "taken"; id: string }
  | { type: "answer"; id: string; result: unknown }
  | { type: "refusal"; id: string; code: string; retryAfterMs: number | undefined };

export type PeerEvents = {
  isLeader(): boolean;
  written(): void;
  read(conversation: ConversationId): void;
  opened(conversation: ConversationId): void;
  sayTyping(conversation: ConversationId): void;
  typing(typist: Typist, isOn: boolean): void;
  presenceTurned(): void;
  called(news: CallNews): void;
  standing(): CallNews | undefined;
  woke(): void;
  looked(tab: Uuid, isOn: boolean): void;
  linkTold(state: LinkState): void;
  link(): LinkState;
  ended(): void;
  answer(command: Asked): Promise<unknown>;
};

const takenMs = 1_500; // a leader that does not even confirm within this is asleep
const answerMs = 25_000;

type Waiting = { taken(): void; resolve(result: unknown): void; reject(error: Error): void };

export class Peers {
  readonly #platform: Platform;
  readonly #events: PeerEvents;
  readonly #channel: Channel | undefined;
  #waiting = new Map<string, Waiting>();
  #heard = 0;

  constructor(platform: Platform, name: string, events: PeerEvents) {
    this.#platform = platform;
    this.#events = events;
    this.#channel = platform.openChannel(name);
    if (this.#channel)
      this.#channel.onmessage = ({ data }: MessageEvent<unknown>) => this.#receive(data as PeerMessage);
  }

  tell(message: PeerMessage): void {
    this.#channel?.postMessage(message);
  }

  close(): void {
    if (this.#channel) this.#channel.onmessage = null;
    this.#channel?.close();
  }

  /** Resolves false when no leader gives a sign of life. */
  hasLeader(): Promise<boolean> {
    const before = this.#heard;
    this.tell({ type: "who" });
    return new Promise((resolve) => this.#platform.after(takenMs, () => resolve(this.#heard > before)));
  }

  /** Asks the leader; undefined when none takes the question. */
  ask<T extends Asked["type"]>(command: Extract<Asked, { type: T }>): Promise<CommandResults[T] | undefined> {
    const id = createUuid(this.#platform.now());
    return new Promise<CommandResults[T] | undefined>((resolve, reject) => {
      const end = () => {
        cancelTaken();
        cancelAnswer();
        this.#waiting.delete(id);
      };
      const cancelTaken = this.#platform.after(takenMs, () => {
        end();
        resolve(undefined);
      });
      const cancelAnswer = this.#platform.after(answerMs, () => {
        end();
        reject(new SyncError("unavailable"));
      });
      this.#waiting.set(id, {
        taken: cancelTaken,
        resolve: (result) => {
          end();
          resolve(result as CommandResults[T]);
        },
        reject: (error) => {
          end();
          reject(error);
        },
      });
      this.tell({ type: "ask", id, command });
    });
  }

  #receive(message: PeerMessage): void {
    const events = this.#events;
    switch (message.type) {
      case "written":
        events.written();
        break;
      case "read":
        events.read(message.conversation);
        break;
      case "opened":
        events.opened(message.conversation);
        break;
      case "say-typing":
        events.sayTyping(message.conversation);
        break;
      case "typing":
        events.typing(message.typist, message.isOn);
        break;
      case "presence-turned":
        events.presenceTurned();
        break;
      case "call":
        events.called(message.news);
        break;
      case "which-calls": {
        const news = events.isLeader() ? events.standing() : undefined;
        if (news) this.tell({ type: "call", news });
        break;
      }
      case "woke":
        events.woke();
        break;
      case "look":
        events.looked(message.tab, message.isOn);
        break;
      case "who":
        if (events.isLeader()) this.tell({ type: "link", state: events.link() });
        break;
      case "link":
        this.#heard++;
        events.linkTold(message.state);
        break;
      case "ended":
        events.ended();
        break;
      case "ask":
        if (events.isLeader()) void this.#answer(message.id, message.command);
        break;
      case "taken":
        this.#waiting.get(message.id)?.taken();
        break;
      case "answer":
        this.#waiting.get(message.id)?.resolve(message.result);
        break;
      case "refusal": {
        const code: ErrorCode | "offline" = isErrorCode(message.code) ? message.code : "offline";
        this.#waiting.get(message.id)?.reject(new SyncError(code, message.retryAfterMs));
        break;
      }
    }
  }

  async #answer(id: string, command: Asked): Promise<void> {
    this.tell({ type: "taken", id });
    try {
      this.tell({ type: "answer", id, result: await this.#events.answer(command) });
    } catch (error) {
      const { code, retryAfterMs } = asSyncError(error);
      this.tell({ type: "refusal", id, code, retryAfterMs });
    }
  }
}
