import { type ErrorCode, isErrorCode } from "#contract/errors.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import type { CommandResults } from "#contract/wire/commands.ts";
import type { CallFeedEvent } from "#sync/calls/call-feed.ts";
import type { RequestCommand } from "#sync/connection/pending-requests.ts";
import type { BroadcastPort, Platform } from "#sync/platform/platform.ts";
import { asSyncError, SyncError } from "#sync/platform/sync-error.ts";
import type { TypingMember } from "#sync/presence/typing.ts";
import type { LinkState } from "#sync/store/view-models.ts";

/** What the tabs of one person tell each other. */
type TabMessage =
  | { type: "written" }
  | { type: "read" | "opened" | "say-typing"; conversation: ConversationId }
  | { type: "typing"; typist: TypingMember; isOn: boolean } // from the leader: somebody types, or stopped
  | { type: "presence-turned" } // from the leader: whether somebody is here is to be asked anew
  | { type: "call"; news: CallFeedEvent } // from the leader, but for "taken"
  | { type: "look"; tab: Uuid; isOn: boolean } // a tab is looked at, or no more
  | { type: "which-calls" } // from a tab that has just been opened
  | { type: "woke" }
  | { type: "who" }
  | { type: "link"; state: LinkState } // from the leader only: also its sign of life
  | { type: "ended" } // signed out, the local data goes
  | { type: "ask"; id: string; command: RequestCommand }
  | { type: "taken"; id: string }
  | { type: "answer"; id: string; result: unknown }
  | { type: "refusal"; id: string; code: string; retryAfterMs: number | undefined };

export type TabChannelEvents = {
  isLeader(): boolean;
  outboxChanged(): void;
  readReported(conversation: ConversationId): void;
  conversationOpened(conversation: ConversationId): void;
  typedInTab(conversation: ConversationId): void;
  typingChanged(typist: TypingMember, isOn: boolean): void;
  presenceVisibilityChanged(): void;
  callEventReceived(news: CallFeedEvent): void;
  getCallSnapshot(): CallFeedEvent | undefined;
  refreshRequested(): void;
  tabVisibilityChanged(tab: Uuid, isOn: boolean): void;
  linkStateReceived(state: LinkState): void;
  getLinkState(): LinkState;
  signedOut(): void;
  handleRequest(command: RequestCommand): Promise<unknown>;
};

const leaderResponseMs = 1_500; // a leader that does not even confirm within this is asleep
const answerTimeoutMs = 25_000;

type PendingTabRequest = { confirm(): void; resolve(result: unknown): void; reject(error: Error): void };

export class TabChannel {
  readonly #platform: Platform;
  readonly #events: TabChannelEvents;
  readonly #channel: BroadcastPort | undefined;
  #pendingRequests = new Map<string, PendingTabRequest>();
  #leaderSignCount = 0;

  constructor(platform: Platform, name: string, events: TabChannelEvents) {
    this.#platform = platform;
    this.#events = events;
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

  /** Resolves false when no leader gives a sign of life. */
  hasLeader(): Promise<boolean> {
    const before = this.#leaderSignCount;
    this.post({ type: "who" });
    return new Promise((resolve) =>
      this.#platform.startTimer(leaderResponseMs, () => resolve(this.#leaderSignCount > before)),
    );
  }

  /** Asks the leader; undefined when none takes the question. */
  request<T extends RequestCommand["type"]>(
    command: Extract<RequestCommand, { type: T }>,
  ): Promise<CommandResults[T] | undefined> {
    const id = createUuid(this.#platform.now());
    return new Promise<CommandResults[T] | undefined>((resolve, reject) => {
      const end = () => {
        cancelTaken();
        cancelAnswer();
        this.#pendingRequests.delete(id);
      };
      const cancelTaken = this.#platform.startTimer(leaderResponseMs, () => {
        end();
        resolve(undefined);
      });
      const cancelAnswer = this.#platform.startTimer(answerTimeoutMs, () => {
        end();
        reject(new SyncError("unavailable"));
      });
      this.#pendingRequests.set(id, {
        confirm: cancelTaken,
        resolve: (result) => {
          end();
          resolve(result as CommandResults[T]);
        },
        reject: (error) => {
          end();
          reject(error);
        },
      });
      this.post({ type: "ask", id, command });
    });
  }

  #receive(message: TabMessage): void {
    const events = this.#events;
    switch (message.type) {
      case "written":
        events.outboxChanged();
        break;
      case "read":
        events.readReported(message.conversation);
        break;
      case "opened":
        events.conversationOpened(message.conversation);
        break;
      case "say-typing":
        events.typedInTab(message.conversation);
        break;
      case "typing":
        events.typingChanged(message.typist, message.isOn);
        break;
      case "presence-turned":
        events.presenceVisibilityChanged();
        break;
      case "call":
        events.callEventReceived(message.news);
        break;
      case "which-calls": {
        const news = events.isLeader() ? events.getCallSnapshot() : undefined;
        if (news) this.post({ type: "call", news });
        break;
      }
      case "woke":
        events.refreshRequested();
        break;
      case "look":
        events.tabVisibilityChanged(message.tab, message.isOn);
        break;
      case "who":
        if (events.isLeader()) this.post({ type: "link", state: events.getLinkState() });
        break;
      case "link":
        this.#leaderSignCount++;
        events.linkStateReceived(message.state);
        break;
      case "ended":
        events.signedOut();
        break;
      case "ask":
        if (events.isLeader()) void this.#answerRequest(message.id, message.command);
        break;
      case "taken":
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
    this.post({ type: "taken", id });
    try {
      this.post({ type: "answer", id, result: await this.#events.handleRequest(command) });
    } catch (error) {
      const { code, retryAfterMs } = asSyncError(error);
      this.post({ type: "refusal", id, code, retryAfterMs });
    }
  }
}
