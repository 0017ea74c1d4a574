import * as v from "valibot";
import type { ConversationId } from "#contract/ids.ts";
import { draftAgeMaxMs, messageTextMaxLength } from "#contract/limits/messages.ts";
import { ReplyPlace } from "#contract/messages/body.ts";
import { DraftList, isSameDraft, type SyncedDraft } from "#contract/settings/drafts.ts";
import type { CommandOf, CommandResults } from "#contract/wire/commands.ts";
import { isUnsupportedCommand, type OperationSender } from "#sync/platform/operation-runner.ts";
import { asSyncError, SyncError } from "#sync/platform/sync-error.ts";
import { readTextDraft } from "#sync/queries/conversation.ts";
import { clearJournaledTextDraft, readReplyDraft, readTypingTime, writeReplyDraft } from "#sync/store/journal.ts";
import {
  type DraftEdit,
  type DraftState,
  type DraftTask,
  draftCursorKey,
  draftHeadKey,
  type PushedDraft,
  pushedDraftPrefix,
  recordDraftEdit,
  toDraftEditKey,
  toDraftStateKey,
  typingPauseMs,
} from "#sync/store/pending/draft-edits.ts";
import { toTextDraftKey } from "#sync/store/pending/draft-keys.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import { changeDraft } from "#sync/store/unsent-messages.ts";
import { deleteKeptText, keepText } from "./keep-text.ts";
import { listKeptTexts } from "./kept-texts.ts";
import { notifyReplyDrafts } from "./reply-draft-listeners.ts";

type SendDraft = (command: CommandOf<"setDraft">) => Promise<CommandResults["setDraft"]>;

/** How exactly the times of two devices can be compared, by the clock of the server. */
const clockAccuracyMs = 1_000;

const noState: DraftState = { change: 0, text: "", isOwn: false };

/**
 * Whether an own draft has replaced one that was written later and that this device had not seen: its request was
 * delayed in the network, so the server counted its text as newer than it was.
 */
const wasReplacedLate = ({ change, at, text }: SyncedDraft, { change: own, isOwn, written }: DraftState): boolean =>
  isOwn &&
  written !== undefined &&
  text !== "" &&
  change < own &&
  change > written.base &&
  at > written.at + clockAccuracyMs;

/** Shares the drafts of conversations with the person's other devices, and applies theirs. */
export class DraftSync implements OperationSender<DraftTask> {
  readonly #context: SyncContext;
  readonly #sendDraft: SendDraft;

  constructor(context: SyncContext, sendDraft: SendDraft) {
    this.#context = context;
    this.#sendDraft = sendDraft;
  }

  async send(task: DraftTask): Promise<void> {
    try {
      if (task === "fetch") await this.#applyChanges();
      else await this.#sendEdit(task.conversation);
    } catch (error) {
      throw isUnsupportedCommand(asSyncError(error)) ? new SyncError("unavailable") : error;
    }
  }

  /** The draft stays on this device. */
  async handleRefusal(task: DraftTask): Promise<void> {
    if (task !== "fetch") await this.#context.strict.meta.delete(toDraftEditKey(task.conversation));
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
  async #sendEdit(conversation: ConversationId): Promise<void> {
    const { strict, platform, me } = this.#context;
    const keys = [toDraftEditKey(conversation), toDraftStateKey(conversation)];
    const target = readReplyDraft({ platform, me }, conversation);
    const prepared = await strict.transaction("rw", [strict.meta], async () => {
      const [edit, row] = await strict.meta.bulkGet(keys);
      const written = await readTextDraft(strict, conversation);
      const text = written.trim() === "" ? "" : written;
      const draft = { text, ...(text !== "" && v.is(ReplyPlace, target) ? { reply: target } : {}) };
      const state = (row?.value as DraftState | undefined) ?? noState;
      const isSame = isSameDraft(state, draft);
      if (edit && isSame && state.isBehind) return { draft, state, at: undefined };
      if (!edit || text.length > messageTextMaxLength || (isSame && state.sent === undefined)) {
        await strict.meta.delete(toDraftEditKey(conversation));
        return undefined;
      }
      await strict.meta.put({ key: toDraftStateKey(conversation), value: { ...state, sent: text } });
      return { draft, state, at: (edit.value as DraftEdit).at };
    });
    if (!prepared) return;
    const { draft, state, at } = prepared;
    if (at === undefined) return void (await this.#adoptStored(conversation, state.change));
    // In a socket that the network has left it would wait, and seem newer than it is.
    if (!platform.isOnline()) throw new SyncError("offline");
    // Each estimate is too low by the time that the answer with the server's clock took.
    const { skew: skewBefore } = await readSyncCursor(strict);
    const sentAt = platform.now();
    const ago = Math.min(Math.max(sentAt - at, 0), draftAgeMaxMs);
    const { revision } = await this.#sendDraft({ type: "setDraft", conversation, base: state.change, ago, ...draft });
    if (revision === 0 && (await this.#adoptStored(conversation, state.change))) return;
    // A request that was answered soon was not delayed. One without an answer may have been.
    const mayBeLate = state.sent !== undefined || platform.now() - sentAt > clockAccuracyMs;
    await this.#change(conversation, async () => {
      const [edit, row] = await strict.meta.bulkGet(keys);
      const latest = (row?.value as DraftState | undefined) ?? noState;
      if (revision > latest.change) {
        const { skew } = await readSyncCursor(strict);
        const value: DraftState = { change: revision, ...draft, isOwn: true };
        if (mayBeLate) value.written = { base: state.change, at: at + Math.max(skew, skewBefore) };
        await strict.meta.put({ key: toDraftStateKey(conversation), value });
      } else if (revision === 0) {
        await strict.meta.put({ key: toDraftStateKey(conversation), value: { ...noState, change: latest.change } });
      }
      if ((edit?.value as DraftEdit | undefined)?.at === at) await strict.meta.delete(toDraftEditKey(conversation));
    });
  }

  /** Applies another device's draft that the server has instead of this one's. Resolves to whether there is one. */
  async #adoptStored(conversation: ConversationId, since: number): Promise<boolean> {
    const { drafts } = await this.#fetch(since);
    const stored = drafts.find((draft) => draft.conversation === conversation && draft.change > since);
    if (stored) await this.#apply(stored, true);
    else await this.#context.strict.meta.delete(toDraftEditKey(conversation));
    return stored !== undefined;
  }

  #change(conversation: ConversationId, change: () => Promise<unknown>): Promise<unknown> {
    const { strict } = this.#context;
    return retryOnQuotaError(this.#context, () => changeDraft(strict, conversation, [], change));
  }

  /**
   * Applies the draft of another device, unless a later text was typed here, which will be sent then. A text that gives
   * way unseen is kept. `isOverruling`: the server decided that it is the later one.
   */
  async #apply(draft: SyncedDraft, isOverruling = false): Promise<void> {
    const { strict, platform, me } = this.#context;
    const { conversation, text } = draft;
    const scope = { platform, me };
    const [editKey, stateKey] = [toDraftEditKey(conversation), toDraftStateKey(conversation)];
    const isTyping = platform.now() - readTypingTime(scope, conversation) < typingPauseMs;
    await this.#change(conversation, async () => {
      const [editRow, stateRow] = await strict.meta.bulkGet([editKey, stateKey]);
      const state = (stateRow?.value as DraftState | undefined) ?? noState;
      const local = await readTextDraft(strict, conversation);
      const { skew } = await readSyncCursor(strict);
      if (draft.change <= state.change) {
        if (!isTyping && !editRow && local === state.text && wasReplacedLate(draft, state)) {
          await this.#replaceText(draft, local);
          await strict.meta.put({ key: stateKey, value: { ...state, written: undefined } });
          await recordDraftEdit(strict, conversation, { at: draft.at - skew, isFinal: true });
        }
        return;
      }
      const target = readReplyDraft(scope, conversation);
      const reply = v.is(ReplyPlace, target) ? target : undefined;
      const next: DraftState = { change: draft.change, text, isOwn: false };
      if (draft.reply !== undefined) next.reply = draft.reply;
      if (isSameDraft({ text: local, ...(reply === undefined ? {} : { reply }) }, draft)) {
        await strict.meta.put({ key: stateKey, value: next });
        await strict.meta.delete(editKey);
        return;
      }
      if (state.sent === text) {
        await strict.meta.put({ key: stateKey, value: { ...next, isOwn: true } });
        return; // written here; the answer was lost
      }
      const edit = editRow?.value as DraftEdit | undefined;
      const isUnsent = edit !== undefined || local !== state.text;
      const isLater = edit !== undefined && edit.at + skew > draft.at;
      if (isTyping || (!isOverruling && (text === "" ? isUnsent : isLater && local !== ""))) {
        if (isOverruling) throw new SyncError("unavailable"); // again when the field is at rest
        await strict.meta.put({ key: stateKey, value: { ...state, isBehind: true } satisfies DraftState });
        if (!edit) await recordDraftEdit(strict, conversation, { at: platform.now() });
        return;
      }
      const wasUnseen = isUnsent || (state.isOwn && draft.base < state.change);
      await this.#replaceText(draft, wasUnseen ? local : "");
      await strict.meta.put({ key: stateKey, value: next });
      await strict.meta.delete(editKey);
    });
  }

  /** Replaces the text on this device by that of a draft. `unseen`: text that gives way although nobody has seen it. */
  async #replaceText({ conversation, text, reply }: SyncedDraft, unseen: string): Promise<void> {
    const { strict, platform, me } = this.#context;
    const scope = { platform, me };
    if (unseen.trim() !== "" && !text.includes(unseen.trim()) && !keepText(scope, conversation, unseen))
      throw new SyncError("unavailable"); // without room for it, it stays in the field
    if (text === "") await strict.meta.delete(toTextDraftKey(conversation));
    else await strict.meta.put({ key: toTextDraftKey(conversation), value: text });
    // A text that gave way here before and comes back.
    const back = listKeptTexts(scope, conversation).find((kept) => kept.target === undefined && kept.text === text);
    if (back) deleteKeptText(scope, conversation, back.id);
    clearJournaledTextDraft(scope, conversation);
    writeReplyDraft(scope, conversation, text === "" ? undefined : reply);
    notifyReplyDrafts();
  }
}
