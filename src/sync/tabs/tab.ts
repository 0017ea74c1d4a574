import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import type { Command, CommandResults } from "#contract/wire/commands.ts";
import { Observable } from "#lib/browser/observable.ts";
import { CallFeed } from "#sync/calls/call-feed.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import type { RequestCommand } from "#sync/connection/pending-requests.ts";
import { MemberLoader } from "#sync/inbound/member-loader.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { VisibilityReporter } from "#sync/presence/tab-visibility.ts";
import { TypingState } from "#sync/presence/typing.ts";
import { toStoreName } from "#sync/store/database.ts";
import { closeStores, type OpenedStores, openStores } from "#sync/store/recovery/open-database.ts";
import {
  isDatabaseClosedError,
  readUnsentBeforeDeletion,
  restoreLostUnsent,
  watchStores,
} from "#sync/store/recovery/store-loss.ts";
import { UnsentMirror } from "#sync/store/recovery/unsent-mirror.ts";
import { requestPersistenceOnce } from "#sync/store/storage-quota.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import type { LinkState, StorageTrouble } from "#sync/store/view-models.ts";
import { Leader } from "./leader.ts";
import { joinLeaderElection, type LeaderElection } from "./leader-election.ts";
import { TabChannel } from "./tab-channel.ts";

/** What the app may want to say aloud. */
export type SyncNotice = "store-reset" | "unsent-lost" | "outdated" | "signed-out" | "settings-refused";

const reopenMs = 10_000;
const repeatedFailureMs = 60_000; // a store that fails again this soon after it was opened anew is not to be trusted

/** One person's synchronisation in one tab: the local store, the other tabs, and the server when this tab leads. */
export class Tab {
  readonly link = new Observable<LinkState>("connecting");
  readonly storageIssue = new Observable<StorageTrouble | undefined>(undefined);
  /** What the parts share; another object after the store was opened anew. */
  readonly context = new Observable<SyncContext | undefined>(undefined);
  /** Another number whenever whether somebody is here is to be asked anew. */
  readonly presenceVersion = new Observable(0);
  readonly typing: TypingState;
  readonly calls = new CallFeed(() => this.platform.now());
  readonly memberLoader = new MemberLoader(this);
  readonly #tabId: Uuid;
  readonly #visibilityReporter: VisibilityReporter;
  readonly #unsentMirror: UnsentMirror;
  readonly #notify: (notice: SyncNotice) => void;
  readonly #channel: TabChannel;
  #election: LeaderElection | undefined;
  #leader: Leader | undefined;
  #lastFailureAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;
  #reopening: Promise<void> | undefined;
  #unsubscribe: (() => void)[] = [];

  constructor(
    readonly userId: Uuid,
    readonly platform: Platform,
    notify: (notice: SyncNotice) => void,
  ) {
    this.#notify = notify;
    this.typing = new TypingState(platform, (conversation) => this.#sendTyping(conversation));
    this.#tabId = createUuid(platform.now());
    this.#unsentMirror = new UnsentMirror(platform, userId);
    this.#visibilityReporter = new VisibilityReporter(platform, (isOn) => {
      if (this.#leader) this.#leader.setTabVisible(this.#tabId, isOn);
      else this.#channel.post({ type: "look", tab: this.#tabId, isOn });
    });
    this.#channel = new TabChannel(platform, toStoreName(userId), {
      isLeader: () => this.#leader !== undefined,
      outboxChanged: () => this.#leader?.scheduleSending(),
      readReported: (conversation) => {
        if (this.#leader) this.#runInBackground(this.#leader.reportRead(conversation));
      },
      conversationOpened: (conversation) => this.#leader?.prioritizeConversation(conversation),
      typedInTab: (conversation) => {
        if (this.#leader) this.#sendTyping(conversation);
      },
      typingChanged: (typist, isOn) => this.typing.setTyping(typist, isOn),
      presenceVisibilityChanged: () => this.presenceVersion.set(this.presenceVersion.get() + 1),
      callEventReceived: (news) => this.calls.publish(news),
      getCallSnapshot: () => this.calls.getSnapshot(),
      refreshRequested: () => this.#leader?.refresh(),
      tabVisibilityChanged: (tab, isOn) => this.#leader?.setTabVisible(tab, isOn),
      linkStateReceived: (state) => {
        if (!this.#leader) this.link.set(state);
      },
      getLinkState: () => this.link.get(),
      signedOut: () => this.#notify("signed-out"),
      handleRequest: (command) => this.request(command as never),
    });
  }

  async start(): Promise<void> {
    await this.#openStore(false);
    if (this.#isStopped) return;
    this.#joinElection();
    this.#unsubscribe.push(
      this.platform.onWake(() => void this.#handleWake()),
      this.platform.onUserActivity(() => {
        if (this.link.get() !== "online" && this.platform.isOnline()) this.refresh();
      }),
      this.link.subscribe(() => {
        if (this.#leader) this.#channel.post({ type: "link", state: this.link.get() });
      }),
    );
    for (const type of ["who", "which-calls"] as const) this.#channel.post({ type });
    this.#visibilityReporter.start();
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#visibilityReporter.stop();
    this.#unsentMirror.stop();
    await this.#reopening;
    await this.#stepDown();
    this.#election?.stop();
    this.#channel.close();
    const context = this.context.get();
    this.context.set(undefined);
    if (context) closeStores(context);
  }

  get isLeader(): boolean {
    return this.#leader !== undefined;
  }

  /** A command that is answered: by the socket when this tab has it, else through the leader, else by HTTP. */
  async request<T extends RequestCommand["type"]>(
    command: Extract<RequestCommand, { type: T }>,
    signal?: AbortSignal,
  ): Promise<CommandResults[T]> {
    if (this.#isStopped) throw new SyncError("offline");
    if (this.#leader) return this.#leader.request(command as Extract<Command, { type: T }>);
    const answer = await this.#channel.request(command);
    return answer ?? requestByHttp<T>(this.platform, command as Extract<Command, { type: T }>, signal);
  }

  /** The outbox has something new. */
  notifyOutboxChanged(): void {
    if (this.#leader) this.#leader.scheduleSending();
    else this.#postToLeader({ type: "written" });
  }

  reportRead(conversation: ConversationId): void {
    if (this.#leader) this.#runInBackground(this.#leader.reportRead(conversation));
    else this.#postToLeader({ type: "read", conversation });
  }

  /** Somebody looks at a conversation: its newest messages are fetched before anything else. */
  prioritizeConversation(conversation: ConversationId): void {
    if (this.#leader) this.#leader.prioritizeConversation(conversation);
    else this.#postToLeader({ type: "opened", conversation });
  }

  /** The server has news: without a socket they are asked for now. */
  refresh(): void {
    if (this.#leader) this.#leader.refresh();
    else this.#channel.post({ type: "woke" });
  }

  /** A call that rings is taken in this tab: the others need not ring any more. */
  announceCallTaken(call: Uuid): void {
    this.#channel.post({ type: "call", news: { event_type: "taken", data: { call_id: call } } });
  }

  /** Tells the person's other tabs that the local data goes. */
  announceSignOut(): void {
    this.#channel.post({ type: "ended" });
  }

  #sendTyping(conversation: ConversationId): void {
    if (this.#leader) this.#runInBackground(this.#leader.sendTyping(conversation));
    else this.#channel.post({ type: "say-typing", conversation });
  }

  #postToLeader(message: Parameters<TabChannel["post"]>[0]): void {
    this.#channel.post(message);
    void this.#checkLeader();
  }

  /** A leader that sleeps in the background must not hold up the tab a person looks at. */
  async #checkLeader(): Promise<void> {
    if (this.#leader || !this.platform.isVisible() || (await this.#channel.hasLeader())) return;
    if (!this.#leader && !this.#isStopped && this.platform.isVisible()) this.#election?.steal();
  }

  async #handleWake(): Promise<void> {
    this.refresh();
    await this.#checkLeader();
  }

  /** `known`: what this page knows to be unsent, should the store have been taken away. */
  async #openStore(isSuspect: boolean, known?: Parameters<typeof restoreLostUnsent>[3]): Promise<void> {
    const opened = await openStores(this.platform, this.userId, isSuspect);
    if (this.#isStopped) return closeStores(opened);
    if (!(await restoreLostUnsent(opened, this.userId, this.#unsentMirror, known))) this.#notify("unsent-lost");
    const { store, strict } = opened;
    this.storageIssue.set(opened.storageTrouble);
    this.#unsentMirror.follow(store);
    const wanted = (newVersion: number | null) => this.#handleVersionChange(opened, newVersion);
    watchStores(opened, { onClosed: () => this.#handleStoreClosed(opened), onVersionChange: wanted });
    const { userId: me, platform, link, storageIssue } = this;
    const failed = (error: unknown) => this.#handleStoreFailure(context, error);
    const context: SyncContext = {
      me,
      platform,
      store,
      strict,
      link,
      storageTrouble: storageIssue,
      reportStoreFailure: failed,
    };
    this.context.set(context);
  }

  #joinElection(): void {
    // What is in memory is this tab's alone: nobody else can send it.
    const locks = this.storageIssue.get() === "memory" ? undefined : this.platform.locks;
    this.#election = joinLeaderElection(locks, toStoreName(this.userId), {
      gained: () => this.#becomeLeader(),
      lost: () => void this.#stepDown(),
    });
  }

  #becomeLeader(): void {
    const context = this.context.get();
    if (!context || this.#isStopped || this.#leader) return;
    this.link.set("connecting");
    this.#leader = new Leader(context, {
      delivered: () => this.#runInBackground(requestPersistenceOnce(context)),
      signedOut: () => this.#notify("signed-out"),
      outdated: () => this.#notify("outdated"),
      settingsRefused: () => this.#notify("settings-refused"),
      typingChanged: (typist, isOn) => {
        this.typing.setTyping(typist, isOn);
        this.#channel.post({ type: "typing", typist, isOn });
      },
      presenceVisibilityChanged: () => {
        this.presenceVersion.set(this.presenceVersion.get() + 1);
        this.#channel.post({ type: "presence-turned" });
      },
      callEventReceived: (news) => {
        this.calls.publish(news);
        this.#channel.post({ type: "call", news });
      },
    });
    this.#channel.post({ type: "link", state: this.link.get() });
    this.#visibilityReporter.report();
  }

  async #stepDown(): Promise<void> {
    const leader = this.#leader;
    this.#leader = undefined;
    await leader?.stop();
  }

  #handleStoreFailure(context: SyncContext, error: unknown): void {
    if (this.#isStopped || this.context.get() !== context) return;
    if (isDatabaseClosedError(error)) {
      this.#reopenStore(false);
      return;
    }
    console.warn("the local store failed", error);
    const now = this.platform.now();
    const isAgain = now - this.#lastFailureAt < repeatedFailureMs;
    this.#lastFailureAt = now;
    this.#reopenStore(isAgain);
  }

  /** The browser closed the store under us: its data was cleared, or something broke. */
  #handleStoreClosed(opened: OpenedStores): void {
    if (this.#isStopped || this.context.get()?.store !== opened.store) return;
    if (this.platform.session.isCurrent()) this.#reopenStore(false);
  }

  /** A deletion waits for what is unsent to be read. */
  #handleVersionChange(opened: OpenedStores, newVersion: number | null): false | undefined {
    const isDeleted = newVersion === null && this.platform.session.isCurrent();
    if (!isDeleted || this.#isStopped || this.context.get()?.store !== opened.store) return undefined;
    this.#reopenStore(false, true);
    return false;
  }

  #runInBackground(work: Promise<unknown>): void {
    const context = this.context.get();
    work.catch((error: unknown) => context?.reportStoreFailure(error));
  }

  #reopenStore(isSuspect: boolean, isDeleted = false): void {
    this.#reopening ??= this.#reopenStoreNow(isSuspect, isDeleted)
      .catch((error: unknown) => {
        console.error("no local store can be had", error);
        this.platform.startTimer(reopenMs, () => this.#reopenStore(false));
      })
      .finally(() => {
        this.#reopening = undefined;
      });
  }

  async #reopenStoreNow(isSuspect: boolean, isDeleted: boolean): Promise<void> {
    if (this.#isStopped) return;
    this.#election?.stop();
    const before = this.context.get();
    this.context.set(undefined);
    await this.#stepDown();
    const unsent = isDeleted && before ? await readUnsentBeforeDeletion(this.platform, before) : undefined;
    if (before) closeStores(before);
    if (this.#isStopped) return;
    await this.#openStore(isSuspect, unsent);
    if (isSuspect || isDeleted) this.#notify("store-reset");
    if (!this.#isStopped) this.#joinElection();
  }
}
