import * as v from "valibot";
import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { Call } from "#contract/calls/call.ts";
import type { InboxRow } from "#contract/conversations.ts";
import type { ErrorCode } from "#contract/errors.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { inboxPageRows } from "#contract/limits/conversations.ts";
import { findAttachment } from "#contract/messages/body.ts";
import type { Message } from "#contract/messages/message.ts";
import type { Profile, Relation } from "#contract/people.ts";
import type { DraftList } from "#contract/settings/drafts.ts";
import { defaultSettings, SettingsChange, type VersionedSettings } from "#contract/settings/settings.ts";
import type { ChangeNumber, ChangesResult, CommandOf, CommandResults, Refusal } from "#contract/wire/commands.ts";
import type { ChangedReactions } from "#contract/wire/reactions.ts";
import { ModelFiles } from "./model-files.ts";
import { type ModelDraft, setModelDraft } from "./model-flags.ts";
import { buildInboxRow, type Log, toVisibleMessage } from "./model-log.ts";
import type { ModelSocket } from "./model-socket.ts";

type Entry = { handle: number; conversation: ConversationId; changed: number };
type Inbox = {
  epoch: string;
  counter: number;
  entries: Map<ConversationId, Entry>;
  people: Map<Uuid, { relation: Relation; changed: number }>;
  sockets: Set<ModelSocket>;
  settings: { kept: VersionedSettings; changed: number } | undefined;
  notices: { notice: SecurityNotice; changed: number }[];
  drafts: Map<ConversationId, ModelDraft>;
  draftHead: number;
};

/** Backup of the server's storage. */
export type ServerBackup = { logs: Map<ConversationId, Log>; inboxes: Map<Uuid, Omit<Inbox, "sockets">> };

const counterReserve = 1_024;

/** Socket of a command and its reference number there. */
export type Caller = { socket: ModelSocket; ref: number };

/** One change of an inbox, as it is pushed to every socket of the person. */
export type InboxChange =
  | { type: "messages"; handle: number; messages: Message[]; isPrivate: boolean; source?: Caller | undefined }
  | { type: "changed"; row: InboxRow; since: number; messages: Message[] }
  | { type: "reactions"; row: InboxRow; since: number; changed: ChangedReactions[] }
  | { type: "row"; row: InboxRow }
  | { type: "others" | "mine"; row: InboxRow }
  | { type: "person"; relation: Relation }
  | { type: "settings"; kept: VersionedSettings }
  | { type: "notice"; notice: SecurityNotice }
  | { type: "draft"; handle: number; before: number; draft: ModelDraft };

export const newEpoch = () => createUuid().slice(-8);

/** Inboxes of the model: changes of each person under a counter, pushed to their sockets. */
export class ModelInboxes {
  /** Open calls reported to everybody. This model does not process them (see `model-calls.ts`). */
  calls: Call[] = [];
  readonly logs = new Map<ConversationId, Log>();
  readonly inboxes = new Map<Uuid, Inbox>();
  readonly profiles = new Map<Uuid, Profile>();

  readonly files = new ModelFiles();
  settingsRefusal: ErrorCode | undefined;

  addPerson(username: string): Uuid {
    const id = createUuid();
    this.profiles.set(id, { id, username, phone: "+243810000000", avatar_url: null, created_at: 1 });
    return id;
  }

  inbox(user: Uuid): Inbox {
    let inbox = this.inboxes.get(user);
    if (!inbox) {
      inbox = {
        epoch: newEpoch(),
        counter: 0,
        entries: new Map(),
        people: new Map(),
        sockets: new Set(),
        settings: undefined,
        notices: [],
        drafts: new Map(),
        draftHead: 0,
      };
      this.inboxes.set(user, inbox);
    }
    return inbox;
  }

  updateContact(user: Uuid, relation: Relation): void {
    const inbox = this.inbox(user);
    if (relation.profile.id === user) this.profiles.set(user, relation.profile);
    inbox.people.set(relation.profile.id, { relation, changed: this.push(user, { type: "person", relation }) });
  }

  log(id: ConversationId): Log {
    const log = this.logs.get(id);
    if (!log) throw new Error("no such conversation");
    return log;
  }

  /** Recreates the inbox: other numbers, other handles, the same conversations. */
  recreateInbox(user: Uuid): void {
    const inbox = this.inbox(user);
    inbox.epoch = newEpoch();
    inbox.counter = 0;
    const conversations = [...inbox.entries.keys()].reverse();
    inbox.entries.clear();
    for (const id of conversations) this.entry(user, id).changed = ++inbox.counter;
    for (const person of inbox.people.values()) person.changed = ++inbox.counter;
    if (inbox.settings) inbox.settings.changed = ++inbox.counter;
    for (const notice of inbox.notices) notice.changed = ++inbox.counter;
    for (const socket of [...inbox.sockets]) socket.end(1006);
  }

  /** Copies everything stored now. */
  copy(): ServerBackup {
    const inboxes = [...this.inboxes].map(([user, { sockets: _, ...inbox }]) => [user, inbox] as const);
    return structuredClone({ logs: this.logs, inboxes: new Map(inboxes) });
  }

  /** Replaces the storage by a backup under a new restore generation: everything has another epoch. */
  restore(copy: ServerBackup): void {
    const { logs, inboxes } = structuredClone(copy);
    this.logs.clear();
    for (const [id, log] of logs) this.logs.set(id, { ...log, epoch: newEpoch() });
    for (const [user, { sockets }] of [...this.inboxes]) {
      const inbox = inboxes.get(user);
      this.inboxes.delete(user);
      if (inbox)
        this.inboxes.set(user, {
          ...inbox,
          epoch: newEpoch(),
          counter: inbox.counter + counterReserve,
          sockets: new Set(),
        });
      for (const socket of [...sockets]) socket.end(1006);
    }
  }

  /** Replaces one log by that of a backup, under another epoch, and notifies its members. */
  restoreLog(id: ConversationId, { logs }: ServerBackup): void {
    const copied = logs.get(id);
    if (!copied) throw new Error("no such conversation in the copy");
    const log = { ...structuredClone(copied), epoch: newEpoch() };
    this.logs.set(id, log);
    for (const user of log.members.keys()) this.pushRow(user, log);
  }

  listChanges(user: Uuid, since: number, before = Number.MAX_SAFE_INTEGER): ChangesResult {
    const inbox = this.inbox(user);
    const from = since > inbox.counter ? 0 : since;
    const all = [
      ...[...inbox.entries.values()].map(({ changed, conversation }) => ({
        changed,
        conversation,
        relation: undefined,
      })),
      ...[...inbox.people.values()].map(({ changed, relation }) => ({ changed, relation, conversation: undefined })),
    ];
    const found = all.filter(({ changed }) => changed > from && changed < before).sort((a, b) => b.changed - a.changed);
    const page = found.slice(0, inboxPageRows);
    const { settings } = inbox;
    return {
      epoch: inbox.epoch,
      counter: inbox.counter,
      since: from,
      now: Date.now(),
      rows: page.flatMap(({ conversation }) => (conversation ? [this.row(user, this.log(conversation))] : [])),
      calls: this.calls,
      people: page.flatMap(({ relation }) => (relation ? [relation] : [])),
      before: found.length > page.length ? (page.at(-1)?.changed ?? null) : null,
      settings: settings && settings.changed > from ? settings.kept : null,
      draftHead: inbox.draftHead,
      notices: inbox.notices.filter(({ changed }) => changed > from).map(({ notice }) => notice),
    };
  }

  listDrafts(user: Uuid, since: number): DraftList {
    const { drafts, draftHead, counter } = this.inbox(user);
    const from = since > counter ? 0 : since;
    const changed = [...drafts].flatMap(([conversation, { writer: _, ...draft }]) =>
      draft.change > from && (from > 0 || draft.text !== "") ? { conversation, ...draft } : [],
    );
    return { head: draftHead, drafts: changed };
  }

  protected setDraft(user: Uuid, command: CommandOf<"setDraft">, writer: string): CommandResults["setDraft"] {
    const inbox = this.inbox(user);
    return setModelDraft(inbox.drafts, command, writer, (draft) => {
      const { handle } = this.entry(user, command.conversation);
      const change = inbox.counter + 1;
      const before = inbox.draftHead;
      inbox.draftHead = change;
      this.push(user, { type: "draft", handle, before, draft: { ...draft, change } });
      return change;
    });
  }

  readSettings(user: Uuid): VersionedSettings {
    return this.inbox(user).settings?.kept ?? { version: 0, settings: defaultSettings };
  }

  /** Changes settings as the Worker's route does. `settingsRefusal` is answered instead, if set. */
  changeSettings(user: Uuid, change: unknown): VersionedSettings | Refusal {
    const parsed = v.safeParse(SettingsChange, change);
    if (!parsed.success) return { error: "invalid_input" };
    if (this.settingsRefusal) return { error: this.settingsRefusal };
    const inbox = this.inbox(user);
    const { version, settings } = this.readSettings(user);
    const exceptions = { ...settings.exceptions, ...parsed.output.exceptions };
    const kept = { version: version + 1, settings: { ...settings, ...parsed.output, exceptions } };
    inbox.settings = { kept, changed: this.push(user, { type: "settings", kept }) };
    return kept;
  }

  /** Adds a security notice for a change made outside the model's devices. */
  addSecurityNotice(user: Uuid, notice: SecurityNotice): void {
    this.inbox(user).notices.push({ notice, changed: this.push(user, { type: "notice", notice }) });
  }

  row(user: Uuid, log: Log): InboxRow {
    return buildInboxRow(log, user, this.entry(user, log.id).handle);
  }

  /** File content for a member who sees a message that references it. */
  readFile(user: Uuid, path: string): Uint8Array | undefined {
    const [, , , id = "", , file = ""] = path.split("/");
    const log = this.logs.get(id);
    if (!log?.members.has(user)) return undefined;
    const isNamed = log.messages.some((message) => findAttachment(toVisibleMessage(message, user).body)?.file === file);
    return isNamed ? this.files.bytes(file) : undefined;
  }

  findConversationByHandle(user: Uuid, handle: number): ConversationId | undefined {
    return [...this.inbox(user).entries.values()].find((entry) => entry.handle === handle)?.conversation;
  }

  protected entry(user: Uuid, conversation: ConversationId): Entry {
    const { entries } = this.inbox(user);
    const entry = entries.get(conversation) ?? { handle: entries.size + 1, conversation, changed: 0 };
    entries.set(conversation, entry);
    return entry;
  }

  protected pushMessage(member: Uuid, log: Log, seq: number, source: Caller | undefined): void {
    const message = log.messages[seq - 1];
    if (!message) return;
    const { handle } = this.entry(member, log.id);
    const messages = [toVisibleMessage(message, member)];
    const counter = this.push(member, { type: "messages", handle, messages, isPrivate: !log.group, source });
    this.recordChange(member, log.id, counter);
  }

  protected pushRow(user: Uuid, log: Log): void {
    this.recordChange(user, log.id, this.push(user, { type: "row", row: this.row(user, log) }));
  }

  /** Number of the last change of a person's row. */
  changeNumber(user: Uuid, log: Log): ChangeNumber {
    return { epoch: this.inbox(user).epoch, counter: this.entry(user, log.id).changed };
  }

  protected recordChange(user: Uuid, conversation: ConversationId, counter: number): void {
    this.entry(user, conversation).changed = counter;
  }

  protected push(user: Uuid, change: InboxChange): number {
    const inbox = this.inbox(user);
    inbox.counter++;
    for (const socket of [...inbox.sockets]) socket.pushChange(inbox.counter, change);
    return inbox.counter;
  }
}
