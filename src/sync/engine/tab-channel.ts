import { type ErrorCode, isErrorCode } from "#contract/errors.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import type { CommandResults } from "#contract/wire/commands.ts";
import type { CallFeedEvent } from "#sync/connection/call-feed.ts";
import type { BroadcastPort, Platform } from "#sync/platform/platform.ts";
import { asSyncError, SyncError } from "#sync/platform/sync-error.ts";
import type { TypingMember } from "#sync/presence/typing.ts";
import type { RequestCommand } from "#sync/store/sync-port.ts";
import type { LinkState } from "#sync/store/view-models.ts";

/** Commands of any tab to the leader tab. */
export type LeaderCommand =
  | { type: "outbox-changed" } // something to send was stored, or a pending upload changed
  | { type: "drafts-changed" } // a draft was changed that the other devices do not have
  | { type: "read"; conversation: ConversationId } // the local read position moved
  | { type: "opened"; conversation: ConversationId } // a conversation is on screen: fetch its newest messages first
  | { type: "say-typing"; conversation: ConversationId }
  | { type: "visibility"; tab: Uuid; isVisible: boolean }
  | { type: "resume" }; // check the connection and fetch changes now

/** Events that the leader publishes to every tab, its own included. */
export type TabEvent =
  | { type: "typing"; typist: TypingMember; isOn: boolean }
  | { type: "presence-turned" } // a presence on screen must be requested again
  | { type: "call"; news: CallFeedEvent }; // the event "taken" comes from the tab that took the call

/** Messages between the tabs of one person. A tab with an older version of the app may send them. */
type TabMessage =
  | LeaderCommand
  | TabEvent
  | { type: "which-calls" } // from a new tab: asks the leader for the active calls
  | { type: "leader-ping" } // asks the leader for a sign of life
  | { type: "link"; state: LinkState } // from the leader: connection state, also its sign of life
  | { type: "ended" } // sign-out: the local data is about to be deleted
  | { type: "request"; id: string; command: RequestCommand }
  | { type: "request-received"; id: string } // the leader received the request
  | { type: "answer"; id: string; result: unknown }
  | { type: "refusal"; id: string; code: string; retryAfterMs: number | undefined };

export type TabChannelHandlers = {
  isLeader(): boolean;
  getLinkState(): LinkState;
  /** Active calls; undefined if this tab does not know them. */
  getCallSnapshot(): CallFeedEvent | undefined;
  /** Executes a request of another tab. Called in the leader tab only. */
  handleRequest(command: RequestCommand): Promise<unknown>;
  /** Called in the leader tab only. */
  onLeaderCommand(command: LeaderCommand): void;
  onTabEvent(event: TabEvent): void;
  onLinkState(state: LinkState): void;
  onSignedOut(): void;
};

const leaderResponseMs = 1_500; // a leader that does not confirm within this time is suspended by the browser
const answerTimeoutMs = 25_000;

type PendingTabRequest = { confirm(): void; resolve(result: unknown): void; reject(error: Error): void };

/** Messages and requests between the tabs of one person, over a BroadcastChannel. */
export class TabChannel {
  readonly #platform: Platform;
  readonly #handlers: TabChannelHandlers;
  readonly #channel: BroadcastPort | undefined;
  #pendingRequests = new Map<string, PendingTabRequest>();
  #leaderSignCount = 0;

  constructor(platform: Platform, name: string, handlers: TabChannelHandlers) {
    this.#platform = platform;
    this.#handlers = handlers;
    this.#channel = platform.openChannel(name);
    if (this.#channel) this.#channel.onmessage = ({ data }: MessageEvent<unknown>) => this.#receive(data as TabMessage);
  }

  post(message: TabMessage): void {
    this.#channel?.postMessage(message);
  }

  close(): void {
    if (this.#channel) this.#channel.onmessage = null;
    this.#channel?.close();
  }

  /** Resolves to false if no leader gives a sign of life within `leaderResponseMs`. */
  hasLeader(): Promise<boolean> {
    const before = this.#leaderSignCount;
    this.post({ type: "leader-ping" });
    return new Promise((resolve) =>
      this.#platform.startTimer(leaderResponseMs, () => resolve(this.#leaderSignCount > before)),
    );
  }

  /** Sends a request to the leader. Resolves to undefined if no leader confirms it; rejects with a SyncError. */
  request<T extends RequestCommand["type"]>(
    command: Extract<RequestCommand, { type: T }>,
  ): Promise<CommandResults[T] | undefined> {
    const id = createUuid(this.#platform.now());
    return new Promise<CommandResults[T] | undefined>((resolve, reject) => {
      const end = () => {
        cancelResponseTimeout();
        cancelAnswerTimeout();
        this.#pendingRequests.delete(id);
      };
      const cancelResponseTimeout = this.#platform.startTimer(leaderResponseMs, () => {
        end();
        resolve(undefined);
      });
      const cancelAnswerTimeout = this.#platform.startTimer(answerTimeoutMs, () => {
        end();
        reject(new SyncError("unavailable"));
      });
      this.#pendingRequests.set(id, {
        confirm: cancelResponseTimeout,
        resolve: (result) => {
          end();
          resolve(result as CommandResults[T]);
        },
        reject: (error) => {
          end();
          reject(error);
        },
      });
      this.post({ type: "request", id, command });
    });
  }

  #receive(message: TabMessage): void {
    const handlers = this.#handlers;
    switch (message.type) {
      case "outbox-changed":
      case "drafts-changed":
      case "read":
      case "opened":
      case "say-typing":
      case "visibility":
      case "resume":
        if (handlers.isLeader()) handlers.onLeaderCommand(message);
        break;
      case "typing":
      case "presence-turned":
      case "call":
        handlers.onTabEvent(message);
        break;
      case "which-calls": {
        const news = handlers.isLeader() ? handlers.getCallSnapshot() : undefined;
        if (news) this.post({ type: "call", news });
        break;
      }
      case "leader-ping":
        if (handlers.isLeader()) this.post({ type: "link", state: handlers.getLinkState() });
        break;
      case "link":
        this.#leaderSignCount++;
        handlers.onLinkState(message.state);
        break;
      case "ended":
        handlers.onSignedOut();
        break;
      case "request":
        if (handlers.isLeader()) void this.#answerRequest(message.id, message.command);
        break;
      case "request-received":
        this.#pendingRequests.get(message.id)?.confirm();
        break;
      case "answer":
        this.#pendingRequests.get(message.id)?.resolve(message.result);
        break;
      case "refusal": {
        const code: ErrorCode | "offline" = isErrorCode(message.code) ? message.code : "offline";
        this.#pendingRequests.get(message.id)?.reject(new SyncError(code, message.retryAfterMs));
        break;
      }
    }
  }

  async #answerRequest(id: string, command: RequestCommand): Promise<void> {
    this.post({ type: "request-received", id });
    try {
      this.post({ type: "answer", id, result: await this.#handlers.handleRequest(command) });
    } catch (error) {
      const { code, retryAfterMs } = asSyncError(error);
      this.post({ type: "refusal", id, code, retryAfterMs });
    }
  }
}
