import type { ConversationId, Uuid } from "#contract/ids.ts";
import { typingRepeatMs } from "#contract/limits.ts";
import type { Command, CommandOf, CommandResults } from "#contract/wire/commands.ts";
import type { CallNews } from "#sync/calls/call-feed.ts";
import type { Asked } from "#sync/connection/asked-command.ts";
import { Outage } from "#sync/connection/http-fallback.ts";
import { Poller } from "#sync/connection/http-polling.ts";
import { askByHttp } from "#sync/connection/http-transport.ts";
import { Line } from "#sync/connection/socket-session.ts";
import { forgetPost } from "#sync/feed/post-pictures.ts";
import type { Applied } from "#sync/inbound/apply-changes.ts";
import { Resume } from "#sync/inbound/gap-filler.ts";
import { Receiver } from "#sync/inbound/inbound-queue.ts";
import { Fetcher } from "#sync/inbound/message-fetcher.ts";
import { MarkReporter, tookMarks } from "#sync/inbound/receipt-reporter.ts";
import { Outbox } from "#sync/outbox/outbox.ts";
import { fetchProfile } from "#sync/people/fetch-profile.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { Lookers } from "#sync/presence/tab-visibility.ts";
import { type Typist, Typists } from "#sync/presence/typing.ts";
import { type Context, inBackground } from "#sync/store/context.ts";
import { strikeSent } from "#sync/store/journal.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { readCursor } from "#sync/store/sync-cursor.ts";
import { LateWorkers } from "./lazy-workers.ts";

const storeRetryMs = 30_000; // a full phone

export type LeaderEvents = {
  /** The first message is out: the moment to ask for storage that lasts. */
  delivered(): void;
  signedOut(): void;
  outdated(): void;
  /** The other of a conversation types, or stopped. */
  typing(typist: Typist, isOn: boolean): void;
  /** Whether somebody is here is to be asked anew. */
  presenceTurned(): void;
  called(news: CallNews): void;
  /** What was changed of the settings is as it was before. */
  settingsRefused(): void;
};

/** The one tab that talks to the server. Everything it learns goes through the local store to the screens of all tabs. */
export class Leader {
  readonly #context: Context;
  readonly #events: LeaderEvents;
  readonly #line: Line;
  readonly #receiver: Receiver;
  readonly #resume: Resume;
  readonly #fetcher: Fetcher;
  readonly #outbox: Outbox;
  readonly #marks: MarkReporter;
  readonly #poller: Poller;
  readonly #outage: Outage;
  readonly #typists: Typists;
  readonly #later: LateWorkers;
  readonly #lookers: Lookers;
  #isStopped = false;
  #hasRenewed = false;
  /** The server says everything anew: what it lost goes before what was written since. */
  #isComparing = false;
  #hasProfile = false;
  /** Who typed without a socket, and when. */
  #untold: { id: ConversationId; at: number } | undefined;

  constructor(context: Context, events: LeaderEvents) {
    this.#context = context;
    this.#events = events;
    this.#receiver = new Receiver(context, {
      applied: (applied) => this.#afterApplied(applied),
      failed: (error) => this.#onUnstored(error),
    });
    this.#line = new Line(
      context.platform,
      {
        welcomed: (isAnew) => this.#onWelcome(isAnew),
        ended: (failures) => this.#onEnded(failures),
        refused: () => this.#onRefused(),
        outdated: () => {
          events.outdated();
          this.#poller.start();
        },
        changed: (changes, taken) => this.#receiver.push(changes, taken),
        refusedSend: (cid, code, retryAfterMs) =>
          inBackground(context, this.#outbox.refused(cid, new SyncError(code, retryAfterMs))),
        called: events.called,
        typing: (handle, number) => inBackground(context, this.#typists.heard(handle, number)),
        presenceTurned: events.presenceTurned,
        postDeleted: (id) => inBackground(context, forgetPost(context, id)),
      },
      async () => {
        await this.#receiver.idle();
        return readCursor(context.store);
      },
    );
    this.#resume = new Resume(
      context,
      this.#receiver,
      (command) => this.ask(command),
      () => this.#line.restart(),
    );
    this.#fetcher = new Fetcher(
      context,
      (command) => this.ask(command),
      (applied) => this.#afterApplied(applied),
    );
    this.#outbox = new Outbox(context, {
      line: this.#line,
      usesHttp: () => this.#outage.usesHttp,
      isHeld: () => this.#isComparing,
      applied: (applied) => {
        this.#afterApplied(applied);
        this.#poller.hurry();
      },
      awaiting: () => this.#later.want(),
    });
    const uploading = { isTextWaiting: () => this.#outbox.isBusy, ready: () => this.#outbox.want() };
    this.#later = new LateWorkers(context, uploading, events.settingsRefused);
    this.#lookers = new Lookers(context.platform, this.#line);
    this.#typists = new Typists(context, events.typing);
    this.#marks = new MarkReporter(context, (row, command) => this.#tellMarks(row.handle ?? row.id, command));
    this.#poller = new Poller(context, this.#receiver, {
      called: events.called,
      link: (isReachable) => {
        if (!this.#line.isUp) context.link.set(isReachable ? "online" : "offline");
        if (isReachable) inBackground(context, this.#onReachable());
      },
    });
    this.#outage = new Outage(context, this.#line, this.#poller, () => this.#outbox.want());
    this.#later.want();
  }

  /** A question over whatever carrier there is. */
  async ask<T extends Asked["type"]>(command: CommandOf<T>): Promise<CommandResults[T]> {
    const { platform, store } = this.#context;
    const any = command as Asked;
    if (!this.#line.isUp) {
      const answer = await askByHttp<T>(platform, command as Extract<Command, { type: T }>);
      if ((any.type === "dial" || any.type === "answer") && !this.#line.isUp) this.#poller.follow(any.call);
      return answer;
    }
    const asked = any as Extract<Asked, { type: T }>;
    if (!("conversation" in asked)) return this.#line.ask<T>(asked, "");
    const row = await store.conversations.get(asked.conversation);
    return this.#line.ask<T>(asked, row?.handle ?? asked.conversation);
  }

  /** Something was written to the outbox, or said of a file on its way. */
  nudge(): void {
    this.#untold = undefined;
    this.#outbox.want();
    this.#later.want();
  }

  /** A person has read here, in whichever tab. */
  async read(id: ConversationId): Promise<void> {
    const row = await this.#context.store.conversations.get(id);
    if (row) this.#marks.notice([row]);
  }

  open(id: ConversationId): void {
    this.#fetcher.open(id);
  }

  /** The person types, in whichever tab. Without a socket nobody is told, but for one that is there within moments. */
  async sayTyping(id: ConversationId, at = this.#context.platform.now()): Promise<void> {
    const row = await this.#context.store.conversations.get(id);
    if (row?.open && !this.#line.sayTyping(row.handle ?? id)) this.#untold = { id, at };
  }

  async #tellTyping(): Promise<void> {
    const untold = this.#untold;
    this.#untold = undefined;
    if (untold && this.#context.platform.now() - untold.at < typingRepeatMs) await this.sayTyping(untold.id, untold.at);
  }

  /** Whether the person looks at one of this browser's tabs. */
  looked(tab: Uuid, isOn: boolean): void {
    this.#lookers.hear(tab, isOn);
  }

  /** The phone came back. */
  wake(): void {
    this.#line.wake();
    this.#poller.hurry();
    if (!this.#line.isUp) this.#outbox.hurry();
    this.#later.hurry();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#line.stop();
    this.#poller.stop();
    this.#outage.stop();
    this.#resume.stop();
    this.#fetcher.stop();
    this.#outbox.stop();
    this.#marks.stop();
    this.#typists.stop();
    this.#lookers.stop();
    this.#later.stop();
    await this.#receiver.idle();
  }

  async #tellMarks(of: number | ConversationId, command: Extract<Command, { type: "mark" }>): Promise<boolean> {
    if (this.#line.isUp) return this.#line.mark(command, of);
    if (!this.#poller.isOn) return false;
    const counted = await askByHttp(this.#context.platform, command);
    this.#afterApplied(await tookMarks(this.#context, { ...command, ...counted }));
    return true;
  }

  #afterApplied(applied: Applied): void {
    if (this.#isStopped) return;
    if (applied.stored.length > 0) this.#events.delivered();
    for (const cid of applied.stored) strikeSent(this.#context, cid);
    this.#outbox.settled(applied.stored);
    this.#fetcher.notice(applied);
    this.#marks.notice(applied.rows);
    this.#typists.notice(applied.rows);
    // What a restored server lost, or what waited for that.
    if (applied.hasResent) {
      this.#outbox.want();
      this.#later.want();
    }
    // Of a group or a person that is gone: what waited for a file of its batch that is brought no further waits no longer.
    if (applied.unseen.size > 0) {
      this.#outbox.want();
      this.#later.want();
    }
    if (applied.cursor.holes.length > 0) this.#resume.want();
  }

  #onWelcome(isAnew: boolean): void {
    this.#hasRenewed = false;
    this.#isComparing = isAnew;
    this.#outage.over();
    this.#lookers.welcomed();
    inBackground(this.#context, this.#onReachable());
    inBackground(this.#context, this.#tellTyping());
  }

  async #onReachable(): Promise<void> {
    if (this.#isComparing) await this.#receiver.idle();
    this.#isComparing = false;
    this.#outbox.hurry();
    this.#later.hurry();
    await this.#receiver.idle();
    if (this.#isStopped) return;
    this.#resume.hurry();
    if (!this.#hasProfile) {
      this.#hasProfile = true;
      fetchProfile(this.#context).catch(() => {
        this.#hasProfile = false; // asked again when the link is there again
      });
    }
    await this.#fetcher.start();
    await this.#marks.recheck();
  }

  #onEnded(failures: number): void {
    if (this.#isStopped) return;
    this.#outage.ended(failures); // before what was on its way looks for another one
    this.#outbox.lost();
  }

  /** The session does not open a socket: renewed once, then it is over. */
  async #onRefused(): Promise<boolean> {
    const { session } = this.#context.platform;
    if (!this.#hasRenewed) {
      this.#hasRenewed = true;
      if (await session.renew()) return true;
      if (session.isCurrent()) return true; // not reached: the session may be good
    } else session.drop();
    this.#events.signedOut();
    return false;
  }

  #onUnstored(error: unknown): void {
    if (this.#isStopped || !isQuotaError(error)) return; // anything else ends this leader
    // Nothing was confirmed: once there is room, the next welcome brings it again. Until then nothing may follow it.
    this.#outage.awaitRoom();
    this.#line.restart(storeRetryMs);
  }
}
