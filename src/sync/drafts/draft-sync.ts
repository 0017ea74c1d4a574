import * as v from "valibot";
import { type ConversationId, createUuid } from "#contract/ids.ts";
import { draftAgeMaxMs, messageTextMaxLength } from "#contract/limits/messages.ts";
import { ReplyPlace } from "#contract/messages/body.ts";
import { DraftList, isSameDraft, type SyncedDraft } from "#contract/settings/drafts.ts";
import type { CommandOf, CommandResults } from "#contract/wire/commands.ts";
import type { OperationSender } from "#sync/platform/operation-runner.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { draftCursorKey, draftHeadKey, type PushedDraft, pushedDraftPrefix } from "#sync/store/draft-announcements.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import type { DraftRow } from "#sync/unsent/draft-row.ts";
import { changeDraft, findDraft } from "#sync/unsent/drafts.ts";
import { applySyncedDraft, clockAccuracyMs, mustWait, noSharedDraft, withoutUnshared } from "./apply-synced-draft.ts";
import type { DraftTask } from "./draft-tasks.ts";

type SendDraft = (command: CommandOf<"setDraft">) => Promise<CommandResults["setDraft"]>;

/** Text and reply of a draft as the server stores them. */
const toSharedContent = ({ text, reply }: DraftRow): Pick<SyncedDraft, "text" | "reply"> => ({
  text,
  ...(text !== "" && v.is(ReplyPlace, reply) ? { reply } : {}),
});

/** Shares the drafts of conversations with the person's other devices, and applies theirs. */
export class DraftSync implements OperationSender<DraftTask> {
  readonly #context: SyncContext;
  readonly #sendDraft: SendDraft;

  constructor(context: SyncContext, sendDraft: SendDraft) {
    this.#context = context;
    this.#sendDraft = sendDraft;
  }

  async send(task: DraftTask): Promise<void> {
    if (task === "fetch") await this.#applyChanges();
    else await this.#sendDraftOf(task.conversation);
  }

  /** The draft stays on this device. */
  async handleRefusal(task: DraftTask): Promise<void> {
    if (task !== "fetch") await this.#change(task.conversation, withoutUnshared);
  }

  /** Applies the pushed drafts if none is missing before them, else fetches what changed. */
  async #applyChanges(): Promise<void> {
    const { store } = this.#context;
    const rows = await store.meta.where("key").startsWith(pushedDraftPrefix).toArray();
    const pushed = rows.map(({ value }) => value as PushedDraft).sort((a, b) => a.change - b.change);
    const [head, cursor] = await store.meta.bulkGet([draftHeadKey, draftCursorKey]);
    let change = (cursor?.value as number | undefined) ?? 0;
    const next = pushed.filter((push) => push.change > change);
    const isChain = next.every(({ before }, index) => before === (next[index - 1]?.change ?? change));
    // The last one of each conversation, as the server has it.
    let drafts = [...new Map(next.flatMap(({ draft }) => (draft ? [[draft.conversation, draft]] : []))).values()];
    if (cursor && isChain && next.at(-1)?.change === head?.value) change = head?.value as number;
    else {
      const fetched = await this.#fetch(change);
      change = fetched.head;
      // After the present drafts, for what an own one may have replaced.
      drafts = [...fetched.drafts, ...drafts];
    }
    for (const draft of drafts) await this.#apply(draft);
    await store.transaction("rw", [store.meta], async () => {
      await store.meta.put({ key: draftCursorKey, value: change });
      // A head that was announced before the answer may be older.
      const announced = await store.meta.get(draftHeadKey);
      if (announced?.value === head?.value) await store.meta.put({ key: draftHeadKey, value: change });
      await store.meta.bulkDelete(rows.map(({ key }) => key));
    });
  }

  async #fetch(since: number): Promise<DraftList> {
    const body = await this.#context.platform.request({ method: "GET", path: `/api/drafts?since=${since}` });
    const parsed = v.safeParse(DraftList, body);
    if (!parsed.success) throw new SyncError("unavailable");
    return parsed.output;
  }

  /** Sends the draft of a conversation as it is now. */
  async #sendDraftOf(conversation: ConversationId): Promise<void> {
    const { store, platform, unsent } = this.#context;
    const row = findDraft(unsent, conversation);
    const draft = toSharedContent(row);
    const shared = row.shared ?? noSharedDraft;
    const isSame = isSameDraft(shared, draft);
    if (!row.unshared) return;
    if (isSame && shared.isBehind) return void (await this.#adoptStored(conversation, shared.change));
    if (draft.text.length > messageTextMaxLength || (isSame && shared.sent === undefined))
      return this.#change(conversation, withoutUnshared);
    const { at } = row.unshared;
    await this.#change(conversation, (now) => ({ ...now, shared: { ...(now.shared ?? shared), sent: draft.text } }));
    // In a socket that the network has left it would wait, and seem newer than it is.
    if (!platform.isOnline()) throw new SyncError("offline");
    // Each estimate is too low by the time that the answer with the server's clock took.
    const { skew: skewBefore } = await readSyncCursor(store);
    const sentAt = platform.now();
    const ago = Math.min(Math.max(sentAt - at, 0), draftAgeMaxMs);
    const { revision } = await this.#sendDraft({ type: "setDraft", conversation, base: shared.change, ago, ...draft });
    if (revision === 0 && (await this.#adoptStored(conversation, shared.change))) return;
    // A request that was answered soon was not delayed. One without an answer may have been.
    const mayBeLate = shared.sent !== undefined || platform.now() - sentAt > clockAccuracyMs;
    const { skew } = await readSyncCursor(store);
    const written = mayBeLate ? { written: { base: shared.change, at: at + Math.max(skew, skewBefore) } } : {};
    await this.#change(conversation, (now) => {
      const latest = now.shared ?? noSharedDraft;
      const next = now.unshared?.at === at ? withoutUnshared(now) : now;
      if (revision > latest.change) return { ...next, shared: { change: revision, ...draft, isOwn: true, ...written } };
      return revision === 0 ? { ...next, shared: { ...noSharedDraft, change: latest.change } } : next;
    });
  }

  /** Applies another device's draft that the server has instead of this one's. Resolves to whether there is one. */
  async #adoptStored(conversation: ConversationId, since: number): Promise<boolean> {
    const { drafts } = await this.#fetch(since);
    const stored = drafts.find((draft) => draft.conversation === conversation && draft.change > since);
    if (stored) await this.#apply(stored, true);
    else await this.#change(conversation, withoutUnshared);
    return stored !== undefined;
  }

  async #apply(draft: SyncedDraft, isOverruling = false): Promise<void> {
    const { store, platform } = this.#context;
    const { conversation } = draft;
    const { skew } = await readSyncCursor(store);
    const now = platform.now();
    const situation = { now, skew, isOverruling, parkedId: createUuid(now) };
    // Again when the field is at rest.
    if (mustWait(findDraft(this.#context.unsent, conversation), draft, situation)) throw new SyncError("unavailable");
    await this.#change(conversation, (row) => applySyncedDraft(row, draft, situation));
  }

  /** A draft that could not be committed stays in the image; the server is asked again. */
  #change(conversation: ConversationId, change: (row: DraftRow) => DraftRow): Promise<void> {
    return changeDraft(this.#context.unsent, conversation, change).catch(() => {
      throw new SyncError("unavailable");
    });
  }
}
