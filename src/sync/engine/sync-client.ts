import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import type { Command, CommandResults } from "#contract/wire/commands.ts";
import { Observable } from "#lib/browser/observable.ts";
import { CallFeed } from "#sync/connection/call-feed.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { LazyMemberLoader } from "#sync/inbound/lazy-member-loader.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { VisibilityReporter } from "#sync/presence/tab-visibility.ts";
import { TypingState } from "#sync/presence/typing.ts";
import { toStoreName } from "#sync/store/database.ts";
import { requestPersistenceOnce } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError, runInBackground, type SyncContext } from "#sync/store/sync-context.ts";
import type { RequestCommand, SyncPort } from "#sync/store/sync-port.ts";
import type { LinkState, StorageTrouble } from "#sync/store/view-models.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { UnsentStore } from "#sync/unsent/unsent-store.ts";
import { joinLeaderElection, type LeaderElection } from "./leader-election.ts";
import { Leadership, type LoadServerCode } from "./leadership.ts";
import { type LeaderCommand, TabChannel, type TabEvent } from "./tab-channel.ts";
import { TabStore } from "./tab-store.ts";

/** Engine events that the app shows to the person. */
export type SyncNotice =
  | "store-reset"
  | "outdated"
  | "signed-out"
  | "settings-refused"
  | "pin-refused"
  | "reaction-refused"
  | "star-refused"
  | "deletion-refused";

/**
 * Sync engine of one person in one tab. It takes part in the leader election, talks to the other tabs, and runs the
 * connection to the server while this tab is the leader.
 */
export class SyncClient implements SyncPort {
  readonly link = new Observable<LinkState>("connecting");
  /** Whether the server was reached since this tab started. */
  wasOnline = false;
  readonly presenceVersion = new Observable(0);
  /** Version that grows when the push subscription of this session has to be renewed, while this tab is the leader. */
  readonly pushKeyVersion = new Observable(0);
  readonly unsent: UnsentStore;
  readonly typing: TypingState;
  readonly calls = new CallFeed(() => this.platform.now());
  readonly memberLoader = new LazyMemberLoader(this);
  readonly #tabId: Uuid;
  readonly #visibilityReporter: VisibilityReporter;
  readonly #store: TabStore;
  readonly #notify: (notice: SyncNotice) => void;
  readonly #loadCode: LoadServerCode;
  readonly #channel: TabChannel;
  #election: LeaderElection | undefined;
  #leader: Leadership | undefined;
  #isStopped = false;
  #unsubscribe: (() => void)[] = [];

  constructor(
    readonly me: Uuid,
    readonly platform: Platform,
    notify: (notice: SyncNotice) => void,
    loadCode: LoadServerCode,
  ) {
    this.#notify = notify;
    this.#loadCode = loadCode;
    this.typing = new TypingState(platform, (conversation) => this.#sendToLeader({ type: "say-typing", conversation }));
    this.#tabId = createUuid(platform.now());
    this.unsent = new UnsentStore(platform, me, (work) => {
      const context = this.context.get();
      return context ? retryOnQuotaError(context, work, false) : work();
    });
    this.#store = new TabStore(me, platform, this.unsent, this.link, {
      onClosing: () => {
        this.#election?.stop();
        return this.#stepDown();
      },
      onReopened: () => this.#joinElection(),
      notify,
    });
    this.#visibilityReporter = new VisibilityReporter(platform, (isVisible) =>
      this.#sendToLeader({ type: "visibility", tab: this.#tabId, isVisible }),
    );
    this.#channel = new TabChannel(platform, toStoreName(me), {
      isLeader: () => this.isLeader,
      getLinkState: () => this.link.get(),
      getCallSnapshot: () => this.calls.getSnapshot(),
      handleRequest: (command) => this.request(command as never),
      onLeaderCommand: (command) => void this.#handleLeaderCommand(command),
      onTabEvent: (event) => this.#handleEvent(event),
      onLinkState: (state) => {
        if (!this.#leader) this.link.set(state);
      },
      onSignedOut: () => this.#notify("signed-out"),
    });
  }

  async start(): Promise<void> {
    await Promise.all([this.#store.open(), this.unsent.open()]);
    if (this.#isStopped) return;
    this.#joinElection();
    this.#unsubscribe.push(
      this.platform.onWake(() => void this.#handleWake()),
      this.platform.onUserActivity(() => {
        if (this.link.get() !== "online" && this.platform.isOnline()) this.refresh();
      }),
      this.platform.onLeave(() => void this.#requestOutboxSync()),
      this.link.subscribe(() => {
        this.wasOnline ||= this.link.get() === "online";
        if (this.#leader) this.#channel.post({ type: "link", state: this.link.get() });
        if (this.link.get() !== "online") void this.#requestOutboxSync(); // written while the loss was not noticed yet
      }),
    );
    for (const type of ["leader-ping", "which-calls"] as const) this.#channel.post({ type });
    this.#visibilityReporter.start();
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#visibilityReporter.stop();
    await this.#store.stop();
    await this.#stepDown();
    await this.unsent.stop();
    this.#election?.stop();
    this.#channel.close();
    this.#store.close();
  }

  get storageTrouble(): Observable<StorageTrouble | undefined> {
    return this.#store.storageTrouble;
  }

  get isInMemory(): boolean {
    return ["memory", "unreachable"].includes(this.storageTrouble.get() ?? "");
  }

  get context(): Observable<SyncContext | undefined> {
    return this.#store.context;
  }

  get isLeader(): boolean {
    return this.#leader !== undefined;
  }

  /**
   * Sends a request to the server: over the socket if this tab is the leader, else through the leader tab, else by
   * HTTP. Rejects with a SyncError.
   */
  async request<T extends RequestCommand["type"]>(
    command: Extract<RequestCommand, { type: T }>,
    signal?: AbortSignal,
  ): Promise<CommandResults[T]> {
    if (this.#isStopped) throw new SyncError("offline");
    if (this.#leader) return this.#leader.request(command as Extract<Command, { type: T }>);
    const answer = await this.#channel.request(command);
    return answer ?? requestByHttp<T>(this.platform, command as Extract<Command, { type: T }>, signal);
  }

  notifyChanged(kind: "outbox" | "drafts"): void {
    if (kind === "outbox") {
      this.#sendToLeader({ type: "outbox-changed" }, true);
      if (this.link.get() !== "online") void this.#requestOutboxSync();
    } else if (!this.#isStopped) this.#sendToLeader({ type: "drafts-changed" }, true);
  }

  reportRead(conversation: ConversationId): void {
    this.#sendToLeader({ type: "read", conversation }, true);
  }

  prioritizeConversation(conversation: ConversationId): void {
    this.#sendToLeader({ type: "opened", conversation }, true);
  }

  refresh(): void {
    this.#sendToLeader({ type: "resume" });
  }

  /** Stops the ringing of a call in the other tabs, because this tab accepted or rejected it. */
  announceCallTaken(call: Uuid): void {
    this.#channel.post({ type: "call", news: { event_type: "taken", data: { call_id: call } } });
  }

  /** Tells the person's other tabs that the local data is about to be deleted. */
  announceSignOut(): void {
    this.#channel.post({ type: "ended" });
  }

  /** Sends a command to the leader. `mustBeHandled`: this tab takes over if the leader gives no sign of life. */
  #sendToLeader(command: LeaderCommand, mustBeHandled = false): void {
    if (this.#leader) this.#leader.handleCommand(command);
    else {
      this.#channel.post(command);
      if (mustBeHandled) void this.#replaceUnresponsiveLeader();
    }
  }

  /** Lets the service worker send what this page may leave unsent. */
  async #requestOutboxSync(): Promise<void> {
    if (listOutbox(this.unsent).some(({ state, sent }) => state === "queued" && !sent))
      await this.platform.requestOutboxSync().catch(() => undefined);
  }

  /** Carries out a command of another tab, with the unsent data that the tab has committed before. */
  async #handleLeaderCommand(command: LeaderCommand): Promise<void> {
    if (command.type === "outbox-changed") await this.unsent.refresh();
    this.#leader?.handleCommand(command);
  }

  #handleEvent(event: TabEvent): void {
    switch (event.type) {
      case "typing":
        this.typing.setTyping(event.typist, event.isOn);
        break;
      case "presence-turned":
        this.presenceVersion.set(this.presenceVersion.get() + 1);
        break;
      case "call":
        this.calls.publish(event.news);
        break;
    }
  }

  /** Takes over from a leader that the browser suspended in the background, if this tab is visible. */
  async #replaceUnresponsiveLeader(): Promise<void> {
    if (this.#leader || !this.platform.isVisible() || (await this.#channel.hasLeader())) return;
    if (!this.#leader && !this.#isStopped && this.platform.isVisible()) this.#election?.steal();
  }

  async #handleWake(): Promise<void> {
    this.refresh();
    await this.#replaceUnresponsiveLeader();
  }

  #joinElection(): void {
    // A store in memory belongs to this tab alone, so no other tab can send its messages: every such tab leads itself.
    const locks = this.isInMemory ? undefined : this.platform.locks;
    this.#election = joinLeaderElection(locks, toStoreName(this.me), {
      onElected: () => this.#becomeLeader(),
      onDeposed: () => void this.#stepDown(),
    });
  }

  #becomeLeader(): void {
    const context = this.context.get();
    if (!context || this.#isStopped || this.#leader) return;
    this.link.set("connecting");
    this.#leader = new Leadership(
      context,
      {
        onDelivered: () => runInBackground(context, requestPersistenceOnce(context)),
        onSignedOut: () => this.#notify("signed-out"),
        onOutdated: () => this.#notify("outdated"),
        onRefused: (what) => this.#notify(`${what}-refused`),
        onPushKeyChanged: () => this.pushKeyVersion.set(this.pushKeyVersion.get() + 1),
        publish: (event) => {
          this.#handleEvent(event);
          this.#channel.post(event);
        },
      },
      this.#loadCode,
    );
    this.#channel.post({ type: "link", state: this.link.get() });
    this.#visibilityReporter.report();
  }

  async #stepDown(): Promise<void> {
    const leader = this.#leader;
    this.#leader = undefined;
    await leader?.stop();
  }
}
