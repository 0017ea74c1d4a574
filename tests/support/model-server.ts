import * as v from "valibot";
import {
  type ChangesResult,
  Command,
  type CommandOf,
  type CommandResults,
  isRefusal,
  type Refusal,
} from "../../contract/commands";
import { clampMarks, type InboxRow, type Marks, type Message, mergeMarks } from "../../contract/conversations";
import { isPermanent } from "../../contract/errors";
import { type ConversationId, createUuid, privateConversationId, privateMembers, type Uuid } from "../../contract/ids";
import { inboxPageRows, previewMaxLength } from "../../contract/limits";
import type { Profile, Relation } from "../../contract/people";
import { type Log, pageOf, searchIn, toMember } from "./model-log";
import type { ModelSocket } from "./model-socket";

/**
 * A small faithful model of the server: conversations that give places, and for every person an inbox with a
 * change counter that is told to sockets. It keeps everything in memory and does every command at once; what
 * can go wrong on the way is the transport's part (`model-socket.ts`, `model-platform.ts`).
 */

type Entry = { handle: number; conversation: ConversationId; changed: number };
type Inbox = {
  epoch: string;
  counter: number;
  entries: Map<ConversationId, Entry>;
  people: Map<Uuid, { relation: Relation; changed: number }>;
  sockets: Set<ModelSocket>;
};

/** One change of an inbox, in the form every socket of the person is told of it. */
export type Told =
  | { type: "messages"; handle: number; messages: Message[]; source?: { socket: ModelSocket; ref: number } | undefined }
  | { type: "row"; row: InboxRow }
  | { type: "others" | "mine"; row: InboxRow }
  | { type: "person"; relation: Relation };

const newEpoch = () => createUuid().slice(-8);

export class ModelServer {
  readonly logs = new Map<ConversationId, Log>();
  readonly inboxes = new Map<Uuid, Inbox>();
  readonly profiles = new Map<Uuid, Profile>();
  /** Set to have commands refused. */
  refuse: (user: Uuid, command: Command) => Refusal | undefined = () => undefined;
  pageRowsMax = 200;
  /** After a passing refusal: what the same socket sent later must not overtake it. */
  readonly #stalled = new WeakMap<ModelSocket, Map<ConversationId, Uuid>>();
  /** What was asked, for tests that count. */
  readonly asked: { user: Uuid; command: Command }[] = [];

  addPerson(username: string): Uuid {
    const id = createUuid();
    this.profiles.set(id, { id, username, phone: "+243810000000", avatar_url: null, created_at: 1 });
    return id;
  }

  inbox(user: Uuid): Inbox {
    let inbox = this.inboxes.get(user);
    if (!inbox) {
      inbox = { epoch: newEpoch(), counter: 0, entries: new Map(), people: new Map(), sockets: new Set() };
      this.inboxes.set(user, inbox);
    }
    return inbox;
  }

  connect(a: Uuid, b: Uuid): ConversationId {
    const id = privateConversationId(a, b);
    const log: Log = { id, epoch: newEpoch(), open: true, messages: [], marks: new Map() };
    this.logs.set(id, log);
    for (const [me, other] of [
      [a, b],
      [b, a],
    ] as const) {
      log.marks.set(me, { delivered: 0, read: 0, hidden: 0 });
      const profile = this.profiles.get(other);
      if (!profile) throw new Error("nobody of that id");
      this.relate(me, { profile, state: "contact", request_id: null, connection_id: createUuid(), since: Date.now() });
      this.#tellRow(me, log);
    }
    return id;
  }

  relate(user: Uuid, relation: Relation): void {
    const inbox = this.inbox(user);
    inbox.people.set(relation.profile.id, { relation, changed: this.#tell(user, { type: "person", relation }) });
  }

  close(id: ConversationId): void {
    const log = this.log(id);
    log.open = false;
    for (const user of log.marks.keys()) this.#tellRow(user, log);
  }

  log(id: ConversationId): Log {
    const log = this.logs.get(id);
    if (!log) throw new Error("no such conversation");
    return log;
  }

  /** The log was recreated, as after a lost storage: nothing of the old one is there. */
  recreateLog(id: ConversationId): void {
    const log = this.log(id);
    log.epoch = newEpoch();
    log.messages = [];
    for (const user of log.marks.keys()) {
      log.marks.set(user, { delivered: 0, read: 0, hidden: 0 });
      this.#tellRow(user, log);
    }
  }

  /** The inbox was recreated: other numbers, other handles, the same conversations. */
  recreateInbox(user: Uuid): void {
    const inbox = this.inbox(user);
    inbox.epoch = newEpoch();
    inbox.counter = 0;
    const conversations = [...inbox.entries.keys()].reverse();
    inbox.entries.clear();
    for (const id of conversations) this.#entry(user, id).changed = ++inbox.counter;
    for (const person of inbox.people.values()) person.changed = ++inbox.counter;
    for (const socket of [...inbox.sockets]) socket.end(1006);
  }

  /** What a person wrote from elsewhere. */
  post(user: Uuid, conversation: ConversationId, ...texts: string[]): void {
    for (const text of texts) {
      const messages = [{ cid: createUuid(), body: { type: "text" as const, text } }];
      const answer = this.execute(user, { type: "send", conversation, messages });
      if (isRefusal(answer)) throw new Error(answer.error);
    }
  }

  execute<T extends Command["type"]>(
    user: Uuid,
    command: CommandOf<T>,
    source?: { socket: ModelSocket; ref: number },
  ): CommandResults[T] | Refusal {
    const parsed = v.safeParse(Command, command);
    if (!parsed.success) return { error: "invalid_input" };
    this.asked.push({ user, command: parsed.output });
    const refusal = this.#stall(parsed.output, source?.socket) ?? this.refuse(user, parsed.output);
    if (refusal) {
      if (parsed.output.type === "send" && source && !isPermanent(refusal.error)) {
        this.#stallAfter(parsed.output, source.socket);
      }
      return refusal;
    }
    return this.#run(user, parsed.output, source) as CommandResults[T] | Refusal;
  }

  #stall(command: Command, socket: ModelSocket | undefined): Refusal | undefined {
    if (command.type !== "send" || !socket) return undefined;
    const stalled = this.#stalled.get(socket);
    const first = stalled?.get(command.conversation);
    if (first === undefined) return undefined;
    if (first !== command.messages[0]?.cid) return { error: "unavailable" };
    stalled?.delete(command.conversation);
    return undefined;
  }

  #stallAfter({ conversation, messages }: CommandOf<"send">, socket: ModelSocket): void {
    const stalled = this.#stalled.get(socket) ?? new Map<ConversationId, Uuid>();
    if (!stalled.has(conversation)) stalled.set(conversation, messages[0]?.cid ?? "");
    this.#stalled.set(socket, stalled);
  }

  #run(user: Uuid, command: Command, source?: { socket: ModelSocket; ref: number }) {
    if (command.type === "changes") return this.changes(user, command.since, command.before);
    const log = this.logs.get(command.conversation);
    const marks = log?.marks.get(user);
    if (!log || !marks) return { error: "conversation_not_found" } as const;
    switch (command.type) {
      case "send":
        return log.open ? this.#send(user, log, command, source) : ({ error: "not_connected" } as const);
      case "mark":
        return this.#mark(user, log, command);
      case "hide":
        marks.hidden = log.messages.length;
        this.#tellRow(user, log);
        return { hidden: marks.hidden };
      case "page":
        return pageOf(log, user, command, this.pageRowsMax);
      case "search":
        return searchIn(log, user, command);
    }
  }

  #send(user: Uuid, log: Log, command: CommandOf<"send">, source?: { socket: ModelSocket; ref: number }) {
    const sent = command.messages.map(({ cid, body }) => {
      const known = log.messages.find((message) => message.author === user && message.cid === cid);
      if (known) {
        source?.socket.acknowledge(this.inbox(user).counter, source.ref, known);
        return { cid, seq: known.seq, at: known.at };
      }
      const seq = log.messages.length + 1;
      const at = Math.max(Date.now(), (log.messages.at(-1)?.at ?? 0) + 1);
      const sender = privateMembers(log.id)?.indexOf(user) ?? 0;
      log.messages.push({ seq, at, sender, body, cid, author: user });
      for (const member of log.marks.keys()) this.#tellMessage(member, log, seq, member === user ? source : undefined);
      return { cid, seq, at };
    });
    return { epoch: log.epoch, sent };
  }

  #mark(user: Uuid, log: Log, command: Marks) {
    const before = log.marks.get(user);
    if (!before) return { error: "conversation_not_found" } as const;
    const after = mergeMarks(before, clampMarks(command, log.messages.length));
    if (after.delivered !== before.delivered || after.read !== before.read) {
      log.marks.set(user, { ...before, ...after });
      for (const member of log.marks.keys()) {
        const type = member === user ? "mine" : "others";
        this.#changed(member, log.id, this.#tell(member, { type, row: this.row(member, log) }));
      }
    }
    return { unread: this.row(user, log).unread };
  }

  changes(user: Uuid, since: number, before = Number.MAX_SAFE_INTEGER): ChangesResult {
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
    return {
      epoch: inbox.epoch,
      counter: inbox.counter,
      now: Date.now(),
      rows: page.flatMap(({ conversation }) => (conversation ? [this.row(user, this.log(conversation))] : [])),
      people: page.flatMap(({ relation }) => (relation ? [relation] : [])),
      before: found.length > page.length ? (page.at(-1)?.changed ?? null) : null,
    };
  }

  row(user: Uuid, log: Log): InboxRow {
    const { delivered, read, hidden } = log.marks.get(user) ?? { delivered: 0, read: 0, hidden: 0 };
    const others = [...log.marks].filter(([member]) => member !== user).map(([, marks]) => marks);
    const last = log.messages.at(-1);
    const text = last?.body.type === "text" ? last.body.text : "";
    return {
      handle: this.#entry(user, log.id).handle,
      conversation: log.id,
      kind: "private",
      epoch: log.epoch,
      head: log.messages.length,
      at: last?.at ?? 1,
      sender: last?.sender ?? 0,
      preview: last && last.seq > hidden ? { type: "text", text: text.slice(0, previewMaxLength) } : null,
      whole: text.length <= previewMaxLength,
      unread: log.messages.filter(({ seq, author }) => author !== user && seq > Math.max(read, hidden)).length,
      delivered,
      read,
      othersDelivered: Math.min(...others.map((marks) => marks.delivered)),
      othersRead: Math.min(...others.map((marks) => marks.read)),
      hidden,
      open: log.open,
    };
  }

  byHandle(user: Uuid, handle: number): ConversationId | undefined {
    return [...this.inbox(user).entries.values()].find((entry) => entry.handle === handle)?.conversation;
  }

  #entry(user: Uuid, conversation: ConversationId): Entry {
    const { entries } = this.inbox(user);
    const entry = entries.get(conversation) ?? { handle: entries.size + 1, conversation, changed: 0 };
    entries.set(conversation, entry);
    return entry;
  }

  #tellMessage(member: Uuid, log: Log, seq: number, source: { socket: ModelSocket; ref: number } | undefined): void {
    const message = log.messages[seq - 1];
    if (!message) return;
    const { handle } = this.#entry(member, log.id);
    const counter = this.#tell(member, { type: "messages", handle, messages: [toMember(message, member)], source });
    this.#changed(member, log.id, counter);
  }

  #tellRow(user: Uuid, log: Log): void {
    this.#changed(user, log.id, this.#tell(user, { type: "row", row: this.row(user, log) }));
  }

  #changed(user: Uuid, conversation: ConversationId, counter: number): void {
    this.#entry(user, conversation).changed = counter;
  }

  #tell(user: Uuid, told: Told): number {
    const inbox = this.inbox(user);
    inbox.counter++;
    for (const socket of [...inbox.sockets]) socket.tell(inbox.counter, told);
    return inbox.counter;
  }
}
