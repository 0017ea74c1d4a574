import type { CommandOf, CommandResults } from "#contract/wire/commands.ts";
import { listDraftTasks } from "#sync/drafts/draft-tasks.ts";
import type { ApplyResult } from "#sync/inbound/apply/apply-server-changes.ts";
import { createOperationRunner } from "#sync/platform/operation-runner.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { Retry } from "#sync/platform/retry.ts";
import type { Uploader, UploaderEvents } from "#sync/sending/files/uploader.ts";
import { listMessageFlagTasks, listOutdatedFlags } from "#sync/store/message-flags.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { typingPauseMs } from "#sync/unsent/draft-row.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import {
  changedSettings,
  conversationFlags,
  edits,
  listPendingFlags,
  messageFlags,
  reactions,
  unsentDeletions,
} from "#sync/unsent/operations.ts";
import { listDuePosts } from "#sync/unsent/queued-posts.ts";

const pendingKinds = [
  "uploads",
  "posts",
  "settings",
  "deletions",
  "edits",
  "flags",
  "messageFlags",
  "reactions",
  "drafts",
  "sentMessages",
  "reads",
] as const;
type PendingKind = (typeof pendingKinds)[number];

const loadEditSender = () => import("#sync/operations/edit-sender.ts");

const loadBackgroundWork = () => import("#sync/sending/background-work.ts");

/** Messages that the service worker has sent. */
const listSentMessages = ({ unsent }: SyncContext) => listOutbox(unsent).filter(({ sent }) => sent);

const listReads = ({ unsent }: SyncContext) => [...unsent.list().reads.values()];

/** Kinds of pending data. Those of the local store are read in one transaction. Most often there are none. */
const readPendingKinds = async (context: SyncContext): Promise<PendingKind[]> => {
  const { store, unsent } = context;
  const [outdatedFlags, drafts] = await store.transaction("r", store.meta, () =>
    Promise.all([listOutdatedFlags(store), listDraftTasks(context)]),
  );
  const counts: Record<PendingKind, number> = {
    uploads: unsent.list().uploads.size,
    posts: listDuePosts(unsent).length,
    drafts: drafts.length,
    settings: changedSettings.list(unsent).length,
    deletions: unsentDeletions.list(unsent).length,
    edits: edits.list(unsent).length,
    flags: conversationFlags.list(unsent).length,
    messageFlags: messageFlags.list(unsent).length + outdatedFlags.length,
    reactions: reactions.list(unsent).length,
    sentMessages: listSentMessages(context).length,
    reads: listReads(context).length,
  };
  return pendingKinds.filter((kind) => counts[kind] > 0);
};

type WorkerEvents = UploaderEvents & {
  /** Sends a reaction. */
  react(command: CommandOf<"react">): Promise<CommandResults["react"]>;
  /** Sends a draft. */
  setDraft(command: CommandOf<"setDraft">): Promise<CommandResults["setDraft"]>;
  /** Called when messages that the service worker sent are stored in their log. */
  onApplied(result: ApplyResult): void;
};

/**
 * Background tasks of the leader that send rarely pending data: files, Tala statuses, changed settings, deletions and
 * edits of messages, flags of conversations and messages, reactions, drafts, and what the service worker left. The code
 * of each is loaded when it first has work; if it cannot be fetched, it is tried again later.
 */
export class LazyWorkers {
  readonly #context: SyncContext;
  readonly #runners: Record<PendingKind, Retry>;
  readonly #platform: Platform;
  #uploader: Uploader | undefined;
  #sharesDrafts = false;
  #unsubscribe = () => {};

  constructor(
    context: SyncContext,
    { react, setDraft, onApplied, ...uploaderEvents }: WorkerEvents,
    onRefused: (what: "settings" | "pin" | "reaction" | "star" | "deletion") => void,
  ) {
    const { platform, unsent } = context;
    this.#context = context;
    this.#platform = platform;
    const uploads = new Retry(platform, async () => {
      if (!this.#uploader) {
        if (unsent.list().uploads.size === 0) return "done";
        const { Uploader } = await import("#sync/sending/files/uploader.ts");
        if (uploads.isStopped) return "done";
        this.#uploader = new Uploader(context, uploaderEvents);
      }
      this.#uploader.schedule();
      return "done";
    });
    const posts = createOperationRunner(platform, {
      list: () => listDuePosts(unsent),
      load: async () => (await import("#sync/feed/post-sender.ts")).createPostSender(context),
      isOrdered: true,
    });
    const settings = createOperationRunner(platform, {
      list: () => changedSettings.list(unsent),
      load: async () =>
        (await import("#sync/operations/settings-sender.ts")).createSettingsSender(
          context,
          () => onRefused("settings"),
          () => posts.runNow(), // statuses wait for a change of their audience
        ),
    });
    const deletionRunner = createOperationRunner(platform, {
      list: () => unsentDeletions.list(unsent),
      load: async () => (await import("#sync/operations/deletion-sender.ts")).createDeletionSender(context),
    });
    const editRunner = createOperationRunner(platform, {
      list: async () => (edits.list(unsent).length > 0 ? (await loadEditSender()).listDueEdits(context) : []),
      load: async () => (await loadEditSender()).createEditSender(context),
    });
    const flags = createOperationRunner(platform, {
      list: () => listPendingFlags(unsent),
      load: async () =>
        (await import("#sync/operations/flag-sender.ts")).createFlagSender(context, () => onRefused("pin")),
      isOrdered: true, // the order of pinning
    });
    const messageFlagRunner = createOperationRunner(platform, {
      list: () => listMessageFlagTasks(context),
      load: async () =>
        (await import("#sync/operations/message-flag-sender.ts")).createMessageFlagSender(context, onRefused),
    });
    const reactionRunner = createOperationRunner(platform, {
      list: () => reactions.list(unsent),
      load: async () =>
        (await import("#sync/operations/reaction-sender.ts")).createReactionSender(context, react, () =>
          onRefused("reaction"),
        ),
    });
    const drafts = createOperationRunner(platform, {
      list: () => listDraftTasks(context),
      load: async () => new (await import("#sync/drafts/draft-sync.ts")).DraftSync(context, setDraft),
    });
    const sentMessages = createOperationRunner(platform, {
      list: () => listSentMessages(context),
      load: async () => (await loadBackgroundWork()).createSentMessageKeeper(context, onApplied),
    });
    const reads = createOperationRunner(platform, {
      list: () => listReads(context),
      load: async () => (await loadBackgroundWork()).createReadSender(context),
    });
    this.#runners = {
      ...{ uploads, posts, drafts, settings, flags, sentMessages, reads },
      deletions: deletionRunner,
      edits: editRunner,
      messageFlags: messageFlagRunner,
      reactions: reactionRunner,
    };
    if (listOutbox(context.unsent).length > 0) void this.#settleLeft();
  }

  /** Sends soon, after pending data was added, paused, resumed or cancelled. */
  schedule(): void {
    void this.#runPending((runner) => runner.schedule());
  }

  /** Sends the edits that waited for their messages, which the server has now. */
  handleSent(): void {
    this.#runners.edits.schedule();
  }

  /** Shares drafts from now on: the first messages have arrived. */
  startDrafts(): void {
    this.#runners.drafts.runNow();
    if (this.#sharesDrafts) return;
    this.#sharesDrafts = true;
    // Another tab tells of a draft before this one has read it.
    this.#unsubscribe = this.#context.unsent.state.subscribe(() => this.#scheduleFinalDrafts());
    // Drafts that a page left while somebody was typing.
    this.#platform.startTimer(typingPauseMs, () => this.#runners.drafts.schedule());
  }

  /** Sends at once, without waiting for back-off, because the server became reachable. */
  runNow(): void {
    this.#uploader?.runNow();
    void this.#runPending((runner) => runner.runNow());
  }

  stop(): void {
    this.#unsubscribe();
    this.#uploader?.stop();
    for (const runner of Object.values(this.#runners)) runner.stop();
  }

  /** Settles what earlier pages left half done. What fails is tried again at the next start. */
  async #settleLeft(): Promise<void> {
    const code = await loadBackgroundWork().catch(() => undefined);
    await code?.settleLeftMessages(this.#context).catch(() => undefined);
    this.schedule();
  }

  #scheduleFinalDrafts(): void {
    const drafts = [...(this.#context.unsent.state.get()?.drafts.values() ?? [])];
    if (drafts.some(({ unshared }) => unshared?.isFinal)) this.#runners.drafts.schedule();
  }

  /** Starts the runners that have work, or all of them if the store cannot be read: each repeats a failed read. */
  async #runPending(start: (runner: Retry) => void): Promise<void> {
    const pending = await readPendingKinds(this.#context).catch(() => pendingKinds);
    for (const kind of pending) if (kind !== "drafts" || this.#sharesDrafts) start(this.#runners[kind]);
  }
}
