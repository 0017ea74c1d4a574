import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Command, CommandOf, CommandResults } from "#contract/wire/commands.ts";
import { fetchOwnProfile } from "#sync/commands/fetch-profile.ts";
import type { CallFeedEvent } from "#sync/connection/call-feed.ts";
import { HttpFallback } from "#sync/connection/http-fallback.ts";
import { HttpPolling } from "#sync/connection/http-polling.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { SocketSession } from "#sync/connection/socket-session.ts";
import type { ApplyResult } from "#sync/inbound/apply/apply-server-changes.ts";
import { GapFiller } from "#sync/inbound/gap-filler.ts";
import { InboundQueue } from "#sync/inbound/inbound-queue.ts";
import { MessageFetcher } from "#sync/inbound/message-fetcher.ts";
import { applyReceiptResult, ReceiptReporter } from "#sync/inbound/receipt-reporter.ts";
import { isQuotaError } from "#sync/platform/database-errors.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { TypingTracker } from "#sync/presence/typing-tracker.ts";
import { VisibilityTracker } from "#sync/presence/visibility-tracker.ts";
import { Outbox } from "#sync/sending/outbox.ts";

import { runInBackground, type SyncContext } from "#sync/store/sync-context.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import type { RequestCommand } from "#sync/store/sync-port.ts";
import { LazyWorkers } from "./lazy-workers.ts";
import type { LeaderCommand, TabEvent } from "./tab-channel.ts";

const storeRetryMs = 30_000; // the phone's storage is full

export type LeaderEvents = {
  /** The server stored a message: the moment to ask the browser for persistent storage. */
  onDelivered(): void;
  onSignedOut(): void;
  onOutdated(): void;
  /** The server refused a setting, pin, reaction, star or deletion for good; what was before applies again. */
  onRefused(what: "settings" | "pin" | "reaction" | "star" | "deletion"): void;
  /** The push subscription of this session has to be renewed. */
  onPushKeyChanged(): void;
  /** Publishes an event to all tabs of the person, this one included. */
  publish(event: TabEvent): void;
};

/**
 * Connection of a person's browser to the server, run by the leader tab only. Everything it receives goes through the
 * local store to the screens of all tabs.
 */
export class Leader {
  readonly #context: SyncContext;
  readonly #events: LeaderEvents;
  readonly #session: SocketSession;
  readonly #inboundQueue: InboundQueue;
  readonly #gapFiller: GapFiller;
  readonly #messageFetcher: MessageFetcher;
  readonly #outbox: Outbox;
  readonly #receiptReporter: ReceiptReporter;
  readonly #httpPolling: HttpPolling;
  readonly #httpFallback: HttpFallback;
  readonly #typingTracker: TypingTracker;
  readonly #lazyWorkers: LazyWorkers;
  readonly #visibilityTracker: VisibilityTracker;
  #isStopped = false;
  #hasRenewedSession = false;
  #hasFetchedProfile = false;
  #hadGaps = false;

  constructor(context: SyncContext, events: LeaderEvents) {
    this.#context = context;
    this.#events = events;
    this.#inboundQueue = new InboundQueue(context, {
      onApplied: (result) => this.#handleApplied(result),
      onFailure: (error) => this.#handleStoreFailure(error),
      onOverflow: () => this.#session.restart(),
    });
    const onCallEvent = (news: CallFeedEvent) => events.publish({ type: "call", news });
    this.#session = new SocketSession(
      context.platform,
      {
        onWelcome: (isOtherInbox) => this.#handleWelcome(isOtherInbox),
        onClosed: (failures) => this.#handleSocketClosed(failures),
        onSessionRefused: () => this.#handleSessionRefused(),
        onOutdated: () => {
          events.onOutdated();
          this.#httpPolling.start();
        },
        onChanges: (changes, onStored) => this.#inboundQueue.push(changes, onStored),
        onSendRefused: (cid, code, retryAfterMs) =>
          runInBackground(context, this.#outbox.handleRefusal(cid, new SyncError(code, retryAfterMs))),
        onCallEvent,
        onTyping: (handle, number) => runInBackground(context, this.#typingTracker.handleTyping(handle, number)),
        onPresenceVisibilityChanged: () => events.publish({ type: "presence-turned" }),
        onPushKeyChanged: events.onPushKeyChanged,
        onPostDeleted: (id) => runInBackground(context, this.#deletePost(id)),
      },
      async () => {
        await this.#inboundQueue.waitUntilIdle();
        return readSyncCursor(context.store);
      },
    );
    this.#gapFiller = new GapFiller(
      context,
      this.#inboundQueue,
      (command) => this.request(command),
      () => this.#session.restart(),
    );
    this.#messageFetcher = new MessageFetcher(
      context,
      (command) => this.request(command),
      (result) => this.#handleApplied(result),
    );
    this.#outbox = new Outbox(context, {
      session: this.#session,
      usesHttp: () => this.#httpFallback.usesHttp,
      confirmState: () => this.#httpFallback.confirmState(),
      onApplied: (result) => {
        this.#handleApplied(result);
        this.#httpPolling.pollNow();
      },
      onUploadsChanged: () => this.#lazyWorkers.schedule(),
    });
    const workerEvents = {
      isMessageInFlight: () => this.#outbox.isBusy,
      onFileUploaded: () => this.#outbox.schedule(),
      react: (command: CommandOf<"react">) => this.request(command),
      setDraft: (command: CommandOf<"setDraft">) => this.request(command),
      onApplied: (result: ApplyResult) => this.#handleApplied(result),
    };
    this.#lazyWorkers = new LazyWorkers(context, workerEvents, events.onRefused);
    this.#visibilityTracker = new VisibilityTracker(context.platform, this.#session);
    this.#typingTracker = new TypingTracker(context, this.#session, (typist, isOn) =>
      events.publish({ type: "typing", typist, isOn }),
    );
    this.#receiptReporter = new ReceiptReporter(context, (row, command) =>
      this.#sendReceipts(row.handle ?? row.id, command),
    );
    this.#httpPolling = new HttpPolling(context, this.#inboundQueue, {
      onCallEvent,
      onReachability: (isReachable) => {
        if (!this.#session.isReady) context.link.set(isReachable ? "online" : "offline");
        if (isReachable) runInBackground(context, this.#handleReachable());
      },
    });
    this.#httpFallback = new HttpFallback(context, this.#session, this.#httpPolling, () => this.#outbox.schedule());
    this.#lazyWorkers.schedule();
    // Ready when the socket fails.
    import("#sync/connection/http-command.ts").catch(() => undefined);
  }

  /** Sends a request over the socket if it is ready, else by HTTP. Rejects with a SyncError. */
  async request<T extends RequestCommand["type"]>(command: CommandOf<T>): Promise<CommandResults[T]> {
    const { platform, store } = this.#context;
    const anyCommand = command as RequestCommand;
    if (!this.#session.isReady) {
      const answer = await requestByHttp<T>(platform, command as Extract<Command, { type: T }>);
      if ((anyCommand.type === "dial" || anyCommand.type === "answer") && !this.#session.isReady)
        this.#httpPolling.followCall(anyCommand.call);
      return answer;
    }
    const request = anyCommand as Extract<RequestCommand, { type: T }>;
    if (!("conversation" in request)) return this.#session.request<T>(request, "");
    const row = await store.conversations.get(request.conversation);
    return this.#session.request<T>(request, row?.handle ?? request.conversation);
  }

  /** Carries out a command of any tab. */
  handleCommand(command: LeaderCommand): void {
    switch (command.type) {
      case "outbox-changed":
        this.#scheduleSending();
        break;
      case "drafts-changed":
        this.#lazyWorkers.schedule();
        break;
      case "read":
        runInBackground(this.#context, this.#reportRead(command.conversation));
        break;
      case "opened":
        this.#messageFetcher.prioritize(command.conversation);
        break;
      case "say-typing":
        runInBackground(this.#context, this.#typingTracker.send(command.conversation));
        break;
      case "visibility":
        this.#visibilityTracker.setTabVisible(command.tab, command.isVisible);
        break;
      case "resume":
        this.#refresh();
        break;
    }
  }

  #scheduleSending(): void {
    this.#typingTracker.discardUnsent(); // the next message says more
    this.#outbox.schedule();
    this.#lazyWorkers.schedule();
  }

  async #reportRead(id: ConversationId): Promise<void> {
    const row = await this.#context.store.conversations.get(id);
    if (row) this.#receiptReporter.enqueueRows([row]);
  }

  /** Checks the connection and sends what waits, because a page became visible or the network returned. */
  #refresh(): void {
    this.#session.wake();
    this.#httpPolling.pollNow();
    if (!this.#session.isReady) this.#outbox.runNow();
    this.#lazyWorkers.runNow();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#session.stop();
    this.#httpPolling.stop();
    this.#httpFallback.stop();
    this.#gapFiller.stop();
    this.#messageFetcher.stop();
    this.#outbox.stop();
    this.#receiptReporter.stop();
    this.#typingTracker.stop();
    this.#visibilityTracker.stop();
    this.#lazyWorkers.stop();
    await this.#inboundQueue.waitUntilIdle();
  }

  async #sendReceipts(handle: number | ConversationId, command: Extract<Command, { type: "mark" }>): Promise<boolean> {
    if (this.#session.isReady) return this.#session.sendReceipt(command, handle);
    if (!this.#httpPolling.isActive) return false;
    const counted = await requestByHttp(this.#context.platform, command);
    this.#handleApplied(await applyReceiptResult(this.#context, { ...command, ...counted }));
    return true;
  }

  #handleApplied(result: ApplyResult): void {
    if (this.#isStopped) return;
    if (result.sentIds.length > 0) this.#events.onDelivered();
    this.#outbox.handleStored(result.sentIds);
    if (result.sentIds.length > 0) this.#lazyWorkers.handleSent();
    this.#messageFetcher.handleApplied(result);
    this.#receiptReporter.enqueueRows(result.rows);
    this.#typingTracker.handleApplied(result.rows);
    // `hasPendingWork`: messages that a restored server lost were queued again, flags of messages changed, or own messages
    // were deleted. Orphaned pictures: a group or a person is gone, so an upload may have been cancelled that other
    // files of its batch waited for.
    if (result.hasPendingWork || result.hasLeftGroups || result.orphanedPictureOwners.size > 0) {
      this.#outbox.schedule();
      this.#lazyWorkers.schedule();
    }
    const hasGaps = result.cursor.gaps.length > 0;
    if (hasGaps) this.#gapFiller.schedule();
    else if (this.#hadGaps) this.#outbox.schedule(); // it waited for conversations that were not received yet
    this.#hadGaps = hasGaps;
  }

  #handleWelcome(isOtherInbox: boolean): void {
    this.#hasRenewedSession = false;
    this.#httpFallback.handleWelcome();
    this.#visibilityTracker.handleWelcome();
    runInBackground(this.#context, this.#handleReachable(isOtherInbox));
    runInBackground(this.#context, this.#typingTracker.sendUnsent());
  }

  /** `isOtherInbox`: messages that the server lost are sent again before newer ones. */
  async #handleReachable(isOtherInbox = false): Promise<void> {
    if (isOtherInbox) await this.#inboundQueue.waitUntilIdle();
    this.#outbox.runNow();
    this.#lazyWorkers.runNow();
    await this.#inboundQueue.waitUntilIdle();
    if (this.#isStopped) return;
    this.#gapFiller.runNow();
    if (!this.#hasFetchedProfile) {
      this.#hasFetchedProfile = true;
      fetchOwnProfile(this.#context).catch(() => {
        this.#hasFetchedProfile = false; // fetched when the server is reachable again
      });
    }
    await this.#messageFetcher.start();
    this.#lazyWorkers.startDrafts(); // not before the first messages
    await this.#receiptReporter.enqueueAll();
  }

  #handleSocketClosed(failures: number): void {
    if (this.#isStopped) return;
    this.#httpFallback.handleSocketClosed(failures); // first, because the outbox then asks whether to send by HTTP
    this.#outbox.handleSocketClosed();
  }

  /** Renews a session that the server refused for the socket; a second refusal ends it. Returns whether to retry. */
  async #handleSessionRefused(): Promise<boolean> {
    const { session } = this.#context.platform;
    if (!this.#hasRenewedSession) {
      this.#hasRenewedSession = true;
      if (await session.renew()) return true;
      if (session.isCurrent()) return true; // the server could not be reached: the session may be valid
    } else session.clear();
    this.#events.onSignedOut();
    return false;
  }

  /** Without the code the next poll of the feed removes the status. */
  async #deletePost(id: Uuid): Promise<void> {
    const code = await import("#sync/feed/post-pictures.ts").catch(() => undefined);
    await code?.deletePostLocally(this.#context, id);
  }

  #handleStoreFailure(error: unknown): void {
    if (this.#isStopped || !isQuotaError(error)) return; // the tab reopens the store after any other failure
    // The changes were not confirmed, so the next welcome brings them again once there is room. Newer ones must not
    // overtake them.
    this.#httpFallback.suspendPolling();
    this.#session.restart(storeRetryMs);
  }
}
