import type { ConversationId, Uuid } from "#contract/ids.ts";
import { typingRepeatMs } from "#contract/limits.ts";
import type { Command, CommandOf, CommandResults } from "#contract/wire/commands.ts";
import type { CallFeedEvent } from "#sync/calls/call-feed.ts";
import { HttpFallback } from "#sync/connection/http-fallback.ts";
import { HttpPolling } from "#sync/connection/http-polling.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import type { RequestCommand } from "#sync/connection/pending-requests.ts";
import { SocketSession } from "#sync/connection/socket-session.ts";
import { removePost } from "#sync/feed/post-pictures.ts";
import type { ApplyResult } from "#sync/inbound/apply-server-changes.ts";
import { GapFiller } from "#sync/inbound/gap-filler.ts";
import { InboundQueue } from "#sync/inbound/inbound-queue.ts";
import { MessageFetcher } from "#sync/inbound/message-fetcher.ts";
import { applyReceiptResult, ReceiptReporter } from "#sync/inbound/receipt-reporter.ts";
import { Outbox } from "#sync/outbox/outbox.ts";
import { fetchOwnProfile } from "#sync/people/fetch-profile.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { VisibilityTracker } from "#sync/presence/tab-visibility.ts";
import { type TypingMember, TypingTracker } from "#sync/presence/typing.ts";
import { clearSentText } from "#sync/store/journal.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { runInBackground, type SyncContext } from "#sync/store/sync-context.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import { LazyWorkers } from "./lazy-workers.ts";

const storeRetryMs = 30_000; // a full phone

export type LeaderEvents = {
  /** The first message is out: the moment to ask for storage that lasts. */
  delivered(): void;
  signedOut(): void;
  outdated(): void;
  /** The other of a conversation types, or stopped. */
  typingChanged(typist: TypingMember, isOn: boolean): void;
  /** Whether somebody is here is to be asked anew. */
  presenceVisibilityChanged(): void;
  callEventReceived(news: CallFeedEvent): void;
  /** What was changed of the settings is as it was before. */
  settingsRefused(): void;
};

/** The one tab that talks to the server. Everything it learns goes through the local store to the screens of all tabs. */
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
  /** The server says everything anew: what it lost goes before what was written since. */
  #isResyncing = false;
  #hasFetchedProfile = false;
  /** Who typed without a socket, and when. */
  #unsentTyping: { id: ConversationId; at: number } | undefined;

  constructor(context: SyncContext, events: LeaderEvents) {
    this.#context = context;
    this.#events = events;
    this.#inboundQueue = new InboundQueue(context, {
      onApplied: (applied) => this.#handleApplied(applied),
      onFailure: (error) => this.#handleStoreFailure(error),
    });
    this.#session = new SocketSession(
      context.platform,
      {
        onWelcome: (isFullSync) => this.#handleWelcome(isFullSync),
        onClosed: (failures) => this.#handleSocketClosed(failures),
        onSessionRefused: () => this.#handleSessionRefused(),
        onOutdated: () => {
          events.outdated();
          this.#httpPolling.start();
        },
        onChanges: (changes, taken) => this.#inboundQueue.push(changes, taken),
        onSendRefused: (cid, code, retryAfterMs) =>
          runInBackground(context, this.#outbox.handleRefusal(cid, new SyncError(code, retryAfterMs))),
        onCallEvent: events.callEventReceived,
        onTyping: (handle, number) => runInBackground(context, this.#typingTracker.handleTyping(handle, number)),
        onPresenceVisibilityChanged: events.presenceVisibilityChanged,
        onPostDeleted: (id) => runInBackground(context, removePost(context, id)),
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
      (applied) => this.#handleApplied(applied),
    );
    this.#outbox = new Outbox(context, {
      session: this.#session,
      usesHttp: () => this.#httpFallback.usesHttp,
      isPaused: () => this.#isResyncing,
      changesApplied: (applied) => {
        this.#handleApplied(applied);
        this.#httpPolling.pollNow();
      },
      uploadsChanged: () => this.#lazyWorkers.schedule(),
    });
    const uploading = { isMessageInFlight: () => this.#outbox.isBusy, fileUploaded: () => this.#outbox.schedule() };
    this.#lazyWorkers = new LazyWorkers(context, uploading, events.settingsRefused);
    this.#visibilityTracker = new VisibilityTracker(context.platform, this.#session);
    this.#typingTracker = new TypingTracker(context, events.typingChanged);
    this.#receiptReporter = new ReceiptReporter(context, (row, command) =>
      this.#sendReceipts(row.handle ?? row.id, command),
    );
    this.#httpPolling = new HttpPolling(context, this.#inboundQueue, {
      onCallEvent: events.callEventReceived,
      onReachability: (isReachable) => {
        if (!this.#session.isReady) context.link.set(isReachable ? "online" : "offline");
        if (isReachable) runInBackground(context, this.#handleReachable());
      },
    });
    this.#httpFallback = new HttpFallback(context, this.#session, this.#httpPolling, () => this.#outbox.schedule());
    this.#lazyWorkers.schedule();
  }

  /** A question over whatever carrier there is. */
  async request<T extends RequestCommand["type"]>(command: CommandOf<T>): Promise<CommandResults[T]> {
    const { platform, store } = this.#context;
    const any = command as RequestCommand;
    if (!this.#session.isReady) {
      const answer = await requestByHttp<T>(platform, command as Extract<Command, { type: T }>);
      if ((any.type === "dial" || any.type === "answer") && !this.#session.isReady)
        this.#httpPolling.followCall(any.call);
      return answer;
    }
    const asked = any as Extract<RequestCommand, { type: T }>;
    if (!("conversation" in asked)) return this.#session.request<T>(asked, "");
    const row = await store.conversations.get(asked.conversation);
    return this.#session.request<T>(asked, row?.handle ?? asked.conversation);
  }

  /** Something was written to the outbox, or said of a file on its way. */
  scheduleSending(): void {
    this.#unsentTyping = undefined;
    this.#outbox.schedule();
    this.#lazyWorkers.schedule();
  }

  /** A person has read here, in whichever tab. */
  async reportRead(id: ConversationId): Promise<void> {
    const row = await this.#context.store.conversations.get(id);
    if (row) this.#receiptReporter.enqueueRows([row]);
  }

  prioritizeConversation(id: ConversationId): void {
    this.#messageFetcher.prioritize(id);
  }

  /** The person types, in whichever tab. Without a socket nobody is told, but for one that is there within moments. */
  async sendTyping(id: ConversationId, at = this.#context.platform.now()): Promise<void> {
    const row = await this.#context.store.conversations.get(id);
    if (row?.open && !this.#session.sendTyping(row.handle ?? id)) this.#unsentTyping = { id, at };
  }

  async #sendDelayedTyping(): Promise<void> {
    const untold = this.#unsentTyping;
    this.#unsentTyping = undefined;
    if (untold && this.#context.platform.now() - untold.at < typingRepeatMs)
      await this.sendTyping(untold.id, untold.at);
  }

  /** Whether the person looks at one of this browser's tabs. */
  setTabVisible(tab: Uuid, isOn: boolean): void {
    this.#visibilityTracker.setTabVisible(tab, isOn);
  }

  /** The phone came back. */
  refresh(): void {
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

  async #sendReceipts(of: number | ConversationId, command: Extract<Command, { type: "mark" }>): Promise<boolean> {
    if (this.#session.isReady) return this.#session.sendReceipt(command, of);
    if (!this.#httpPolling.isActive) return false;
    const counted = await requestByHttp(this.#context.platform, command);
    this.#handleApplied(await applyReceiptResult(this.#context, { ...command, ...counted }));
    return true;
  }

  #handleApplied(applied: ApplyResult): void {
    if (this.#isStopped) return;
    if (applied.sentIds.length > 0) this.#events.delivered();
    for (const cid of applied.sentIds) clearSentText(this.#context, cid);
    this.#outbox.handleStored(applied.sentIds);
    this.#messageFetcher.handleApplied(applied);
    this.#receiptReporter.enqueueRows(applied.rows);
    this.#typingTracker.handleApplied(applied.rows);
    // What a restored server lost, or what waited for that.
    if (applied.hasRequeued) {
      this.#outbox.schedule();
      this.#lazyWorkers.schedule();
    }
    // Of a group or a person that is gone: what waited for a file of its batch that is brought no further waits no longer.
    if (applied.orphanedPictureOwners.size > 0) {
      this.#outbox.schedule();
      this.#lazyWorkers.schedule();
    }
    if (applied.cursor.holes.length > 0) this.#gapFiller.schedule();
  }

  #handleWelcome(isFullSync: boolean): void {
    this.#hasRenewedSession = false;
    this.#isResyncing = isFullSync;
    this.#httpFallback.handleWelcome();
    this.#visibilityTracker.handleWelcome();
    runInBackground(this.#context, this.#handleReachable());
    runInBackground(this.#context, this.#sendDelayedTyping());
  }

  async #handleReachable(): Promise<void> {
    if (this.#isResyncing) await this.#inboundQueue.waitUntilIdle();
    this.#isResyncing = false;
    this.#outbox.runNow();
    this.#lazyWorkers.runNow();
    await this.#inboundQueue.waitUntilIdle();
    if (this.#isStopped) return;
    this.#gapFiller.runNow();
    if (!this.#hasFetchedProfile) {
      this.#hasFetchedProfile = true;
      fetchOwnProfile(this.#context).catch(() => {
        this.#hasFetchedProfile = false; // asked again when the link is there again
      });
    }
    await this.#messageFetcher.start();
    await this.#receiptReporter.enqueueAll();
  }

  #handleSocketClosed(failures: number): void {
    if (this.#isStopped) return;
    this.#httpFallback.handleSocketClosed(failures); // before what was on its way looks for another one
    this.#outbox.handleSocketClosed();
  }

  /** The session does not open a socket: renewed once, then it is over. */
  async #handleSessionRefused(): Promise<boolean> {
    const { session } = this.#context.platform;
    if (!this.#hasRenewedSession) {
      this.#hasRenewedSession = true;
      if (await session.renew()) return true;
      if (session.isCurrent()) return true; // not reached: the session may be good
    } else session.clear();
    this.#events.signedOut();
    return false;
  }

  #handleStoreFailure(error: unknown): void {
    if (this.#isStopped || !isQuotaError(error)) return; // anything else ends this leader
    // Nothing was confirmed: once there is room, the next welcome brings it again. Until then nothing may follow it.
    this.#httpFallback.suspendPolling();
    this.#session.restart(storeRetryMs);
  }
}
