import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import type { Command, CommandResults } from "#contract/wire/commands.ts";
import { Observable } from "#lib/browser/observable.ts";
import { CallWire } from "#sync/calls/call-feed.ts";
import type { Asked } from "#sync/connection/asked-command.ts";
import { askByHttp } from "#sync/connection/http-transport.ts";
import { MemberLearner } from "#sync/inbound/member-loader.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { Looking } from "#sync/presence/tab-visibility.ts";
import { Typing } from "#sync/presence/typing.ts";
import type { Context } from "#sync/store/context.ts";
import { storeName } from "#sync/store/database.ts";
import { askPersistenceOnce } from "#sync/store/persistence.ts";
import { closeStores, type Opened, openStores } from "#sync/store/recovery/open-database.ts";
import { isClosed, readBeforeDeletion, refill, watchStores } from "#sync/store/recovery/store-loss.ts";
import { UnsentMirror } from "#sync/store/recovery/unsent-mirror.ts";
import type { LinkState, StorageTrouble } from "#sync/store/views.ts";
import { Leader } from "./leader.ts";
import { compete, type Leadership } from "./leader-election.ts";
import { Peers } from "./tab-channel.ts";

/** What the app may want to say aloud. */
export type Notice = "store-reset" | "unsent-lost" | "outdated" | "signed-out" | "settings-refused";

const reopenMs = 10_000;
const suspectWithinMs = 60_000; // a store that fails again this soon after it was opened anew is not to be trusted

/** One person's synchronisation in one tab: the local store, the other tabs, and the server when this tab leads. */
export class Tab {
  readonly link = new Observable<LinkState>("connecting");
  readonly trouble = new Observable<StorageTrouble | undefined>(undefined);
  /** What the parts share; another object after the store was opened anew. */
  readonly context = new Observable<Context | undefined>(undefined);
  /** Another number whenever whether somebody is here is to be asked anew. */
  readonly presenceTurns = new Observable(0);
  readonly typing: Typing;
  readonly calls = new CallWire(() => this.platform.now());
  readonly members = new MemberLearner(this);
  readonly #id: Uuid;
  readonly #looking: Looking;
  readonly #mirror: UnsentMirror;
  readonly #notify: (notice: Notice) => void;
  readonly #peers: Peers;
  #leadership: Leadership | undefined;
  #leader: Leader | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;
  #reopening: Promise<void> | undefined;
  #unsubscribe: (() => void)[] = [];

  constructor(
    readonly userId: Uuid,
    readonly platform: Platform,
    notify: (notice: Notice) => void,
  ) {
    this.#notify = notify;
    this.typing = new Typing(platform, (conversation) => this.#sayTyping(conversation));
    this.#id = createUuid(platform.now());
    this.#mirror = new UnsentMirror(platform, userId);
    this.#looking = new Looking(platform, (isOn) => {
      if (this.#leader) this.#leader.looked(this.#id, isOn);
      else this.#peers.tell({ type: "look", tab: this.#id, isOn });
    });
    this.#peers = new Peers(platform, storeName(userId), {
      isLeader: () => this.#leader !== undefined,
      written: () => this.#leader?.nudge(),
      read: (conversation) => {
        if (this.#leader) this.#background(this.#leader.read(conversation));
      },
      opened: (conversation) => this.#leader?.open(conversation),
      sayTyping: (conversation) => {
        if (this.#leader) this.#sayTyping(conversation);
      },
      typing: (typist, isOn) => this.typing.set(typist, isOn),
      presenceTurned: () => this.presenceTurns.set(this.presenceTurns.get() + 1),
      called: (news) => this.calls.tell(news),
      standing: () => this.calls.standing(),
      woke: () => this.#leader?.wake(),
      looked: (tab, isOn) => this.#leader?.looked(tab, isOn),
      linkTold: (state) => {
        if (!this.#leader) this.link.set(state);
      },
      link: () => this.link.get(),
      ended: () => this.#notify("signed-out"),
      answer: (command) => this.ask(command as never),
    });
  }

  async start(): Promise<void> {
    await this.#open(false);
    if (this.#isStopped) return;
    this.#compete();
    this.#unsubscribe.push(
      this.platform.onWake(() => void this.#wake()),
      this.platform.onUse(() => {
        if (this.link.get() !== "online" && this.platform.isOnline()) this.look();
      }),
      this.link.subscribe(() => {
        if (this.#leader) this.#peers.tell({ type: "link", state: this.link.get() });
      }),
    );
    for (const type of ["who", "which-calls"] as const) this.#peers.tell({ type });
    this.#looking.start();
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#looking.stop();
    this.#mirror.stop();
    await this.#reopening;
    await this.#step();
    this.#leadership?.stop();
    this.#peers.close();
    const context = this.context.get();
    this.context.set(undefined);
    if (context) closeStores(context);
  }

  get isLeader(): boolean {
    return this.#leader !== undefined;
  }

  /** A command that is answered: by the socket when this tab has it, else through the leader, else by HTTP. */
  async ask<T extends Asked["type"]>(
    command: Extract<Asked, { type: T }>,
    signal?: AbortSignal,
  ): Promise<CommandResults[T]> {
    if (this.#isStopped) throw new SyncError("offline");
    if (this.#leader) return this.#leader.ask(command as Extract<Command, { type: T }>);
    const answer = await this.#peers.ask(command);
    return answer ?? askByHttp<T>(this.platform, command as Extract<Command, { type: T }>, signal);
  }

  /** The outbox has something new. */
  written(): void {
    if (this.#leader) this.#leader.nudge();
    else this.#tellLeader({ type: "written" });
  }

  read(conversation: ConversationId): void {
    if (this.#leader) this.#background(this.#leader.read(conversation));
    else this.#tellLeader({ type: "read", conversation });
  }

  /** Somebody looks at a conversation: its newest messages are fetched before anything else. */
  opened(conversation: ConversationId): void {
    if (this.#leader) this.#leader.open(conversation);
    else this.#tellLeader({ type: "opened", conversation });
  }

  /** The server has news: without a socket they are asked for now. */
  look(): void {
    if (this.#leader) this.#leader.wake();
    else this.#peers.tell({ type: "woke" });
  }

  /** A call that rings is taken in this tab: the others need not ring any more. */
  takeCall(call: Uuid): void {
    this.#peers.tell({ type: "call", news: { event_type: "taken", data: { call_id: call } } });
  }

  /** Tells the person's other tabs that the local data goes. */
  announceEnd(): void {
    this.#peers.tell({ type: "ended" });
  }

  #sayTyping(conversation: ConversationId): void {
    if (this.#leader) this.#background(this.#leader.sayTyping(conversation));
    else this.#peers.tell({ type: "say-typing", conversation });
  }

  #tellLeader(message: Parameters<Peers["tell"]>[0]): void {
    this.#peers.tell(message);
    void this.#checkLeader();
  }

  /** A leader that sleeps in the background must not hold up the tab a person looks at. */
  async #checkLeader(): Promise<void> {
    if (this.#leader || !this.platform.isVisible() || (await this.#peers.hasLeader())) return;
    if (!this.#leader && !this.#isStopped && this.platform.isVisible()) this.#leadership?.steal();
  }

  async #wake(): Promise<void> {
    this.look();
    await this.#checkLeader();
  }

  /** `known`: what this page knows to be unsent, should the store have been taken away. */
  async #open(isSuspect: boolean, known?: Parameters<typeof refill>[3]): Promise<void> {
    const opened = await openStores(this.platform, this.userId, isSuspect);
    if (this.#isStopped) return closeStores(opened);
    if (!(await refill(opened, this.userId, this.#mirror, known))) this.#notify("unsent-lost");
    const { store, strict } = opened;
    this.trouble.set(opened.trouble);
    this.#mirror.follow(store);
    const wanted = (newVersion: number | null) => this.#onWanted(opened, newVersion);
    watchStores(opened, { closed: () => this.#onClosed(opened), wanted });
    const { userId: me, platform, link, trouble } = this;
    const failed = (error: unknown) => this.#onFailed(context, error);
    const context: Context = { me, platform, store, strict, link, trouble, failed };
    this.context.set(context);
  }

  #compete(): void {
    // What is in memory is this tab's alone: nobody else can send it.
    const locks = this.trouble.get() === "memory" ? undefined : this.platform.locks;
    this.#leadership = compete(locks, storeName(this.userId), {
      gained: () => this.#lead(),
      lost: () => void this.#step(),
    });
  }

  #lead(): void {
    const context = this.context.get();
    if (!context || this.#isStopped || this.#leader) return;
    this.link.set("connecting");
    this.#leader = new Leader(context, {
      delivered: () => this.#background(askPersistenceOnce(context)),
      signedOut: () => this.#notify("signed-out"),
      outdated: () => this.#notify("outdated"),
      settingsRefused: () => this.#notify("settings-refused"),
      typing: (typist, isOn) => {
        this.typing.set(typist, isOn);
        this.#peers.tell({ type: "typing", typist, isOn });
      },
      presenceTurned: () => {
        this.presenceTurns.set(this.presenceTurns.get() + 1);
        this.#peers.tell({ type: "presence-turned" });
      },
      called: (news) => {
        this.calls.tell(news);
        this.#peers.tell({ type: "call", news });
      },
    });
    this.#peers.tell({ type: "link", state: this.link.get() });
    this.#looking.again();
  }

  async #step(): Promise<void> {
    const leader = this.#leader;
    this.#leader = undefined;
    await leader?.stop();
  }

  #onFailed(context: Context, error: unknown): void {
    if (this.#isStopped || this.context.get() !== context) return;
    if (isClosed(error)) {
      this.#reopen(false);
      return;
    }
    console.warn("the local store failed", error);
    const now = this.platform.now();
    const isAgain = now - this.#failedAt < suspectWithinMs;
    this.#failedAt = now;
    this.#reopen(isAgain);
  }

  /** The browser closed the store under us: its data was cleared, or something broke. */
  #onClosed(opened: Opened): void {
    if (this.#isStopped || this.context.get()?.store !== opened.store) return;
    if (this.platform.session.isCurrent()) this.#reopen(false);
  }

  /** A deletion waits for what is unsent to be read. */
  #onWanted(opened: Opened, newVersion: number | null): false | undefined {
    const isDeleted = newVersion === null && this.platform.session.isCurrent();
    if (!isDeleted || this.#isStopped || this.context.get()?.store !== opened.store) return undefined;
    this.#reopen(false, true);
    return false;
  }

  #background(work: Promise<unknown>): void {
    const context = this.context.get();
    work.catch((error: unknown) => context?.failed(error));
  }

  #reopen(isSuspect: boolean, isDeleted = false): void {
    this.#reopening ??= this.#reopenNow(isSuspect, isDeleted)
      .catch((error: unknown) => {
        console.error("no local store can be had", error);
        this.platform.after(reopenMs, () => this.#reopen(false));
      })
      .finally(() => {
        this.#reopening = undefined;
      });
  }

  async #reopenNow(isSuspect: boolean, isDeleted: boolean): Promise<void> {
    if (this.#isStopped) return;
    this.#leadership?.stop();
    const before = this.context.get();
    this.context.set(undefined);
    await this.#step();
    const unsent = isDeleted && before ? await readBeforeDeletion(this.platform, before) : undefined;
    if (before) closeStores(before);
    if (this.#isStopped) return;
    await this.#open(isSuspect, unsent);
    if (isSuspect || isDeleted) this.#notify("store-reset");
    if (!this.#isStopped) this.#compete();
  }
}
