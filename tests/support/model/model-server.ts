import * as v from "valibot";
import { isPermanentError } from "#contract/errors.ts";
import { isGroupActionAllowed } from "#contract/groups.ts";
import {
  type ConversationId,
  createUuid,
  otherMember,
  privateConversationId,
  privateMembers,
  type Uuid,
} from "#contract/ids.ts";
import { editWindowMs, pinnedMessagesMax } from "#contract/limits/messages.ts";
import {
  type Body,
  createTombstone,
  type ForwardSource,
  findAttachment,
  getEditNumber,
  isEditableBody,
  type Tombstone,
  withText,
} from "#contract/messages/body.ts";
import { isSystemMessage } from "#contract/messages/kinds.ts";
import { keepMentions, withMentions } from "#contract/messages/mentions.ts";
import { clampReadState, mergeReadStates, type ReadState } from "#contract/messages/positions.ts";
import { noFlags } from "#contract/settings/conversation-flags.ts";
import type { MessageFlags } from "#contract/settings/message-flags.ts";
import type { Presence } from "#contract/settings/settings.ts";
import { CommandSchema } from "#contract/wire/command-schemas.ts";
import {
  type ChangeNumber,
  type Command,
  type CommandOf,
  type CommandResults,
  isRefusal,
  type Refusal,
} from "#contract/wire/commands.ts";
import { endModelArchive, endModelMark, setModelFlags } from "./model-flags.ts";
import { ModelGroups } from "./model-groups.ts";
import { type Caller, newEpoch } from "./model-inboxes.ts";
import {
  findVisibleHead,
  isGroup,
  type Log,
  type LogMessage,
  listPinned,
  listRevised,
  newMember,
  readLogPage,
  searchLog,
  summarizeReactions,
  toVisibleMessage,
} from "./model-log.ts";
import { listModelMessageFlags, setModelMessageFlags } from "./model-message-flags.ts";
import type { ModelSocket } from "./model-socket.ts";
import { ModelTala } from "./model-tala.ts";

/**
 * Small faithful model of the server: conversations that assign sequence numbers, and an inbox per person with a change
 * counter that is pushed to sockets. It keeps everything in memory and runs every command at once. Network faults are
 * simulated by the transport (`model-socket.ts`, `model-device.ts`).
 */

export class ModelServer extends ModelGroups {
  /** Set to have commands refused. */
  refuse: (user: Uuid, command: Command) => Refusal | undefined = () => undefined;
  readonly tala = new ModelTala((user) => this.profiles.get(user)?.username ?? "");
  /** Presence reported for everybody. */
  presence: Presence = { here: false, seen_at: null };
  pageRowsMax = 200;
  revisedRowsMax = 50;
  /**
   * First refused message per conversation after a temporary refusal: later messages of the same socket must not
   * overtake it.
   */
  readonly #stalled = new WeakMap<ModelSocket, Map<ConversationId, { cid: Uuid; refusal: Refusal }>>();
  /** Executed commands, for tests that count them. */
  readonly executedCommands: { user: Uuid; command: Command }[] = [];

  connect(a: Uuid, b: Uuid): ConversationId {
    const id = privateConversationId(a, b);
    const log: Log = {
      id,
      epoch: newEpoch(),
      open: true,
      revision: 0,
      messages: [],
      deletedPending: new Set(),
      members: new Map(),
    };
    this.logs.set(id, log);
    for (const [me, other] of [
      [a, b],
      [b, a],
    ] as const) {
      log.members.set(me, newMember(privateMembers(id)?.indexOf(me)));
      const profile = this.profiles.get(other);
      if (!profile) throw new Error("nobody of that id");
      this.updateContact(me, {
        profile,
        state: "contact",
        request_id: null,
        connection_id: createUuid(),
        since: Date.now(),
        blocked: false,
      });
      this.pushRow(me, log);
    }
    return id;
  }

  closeConversation(id: ConversationId): void {
    const log = this.log(id);
    log.open = false;
    for (const user of log.members.keys()) this.pushRow(user, log);
  }

  /** Recreates a log, as after a lost storage: nothing of the old one remains. */
  recreateLog(id: ConversationId): void {
    const log = this.log(id);
    log.epoch = newEpoch();
    log.messages = [];
    log.revision = 0;
    for (const [user, { number }] of log.members) {
      log.members.set(user, newMember(number));
      this.pushRow(user, log);
    }
  }

  /** Sends texts from another device of a person. */
  sendTexts(user: Uuid, conversation: ConversationId, ...texts: string[]): void {
    for (const text of texts) {
      const messages = [{ cid: createUuid(), body: { type: "text" as const, text } }];
      const answer = this.execute(user, { type: "send", conversation, messages });
      if (isRefusal(answer)) throw new Error(answer.error);
    }
  }

  execute<T extends Command["type"]>(
    user: Uuid,
    command: CommandOf<T>,
    source?: Caller,
    device = source?.socket.device ?? "",
  ): CommandResults[T] | Refusal {
    const parsed = v.safeParse(CommandSchema, command);
    if (!parsed.success) return { error: "invalid_input" };
    this.executedCommands.push({ user, command: parsed.output });
    const refusal = this.#stall(parsed.output, source?.socket) ?? this.refuse(user, parsed.output);
    if (refusal) {
      if (parsed.output.type === "send" && source && !isPermanentError(refusal.error)) {
        this.#stallAfter(parsed.output, refusal, source.socket);
      }
      return refusal;
    }
    return this.#run(user, parsed.output, source, device) as CommandResults[T] | Refusal;
  }

  #stall(command: Command, socket: ModelSocket | undefined): Refusal | undefined {
    if (command.type !== "send" || !socket) return undefined;
    const stalled = this.#stalled.get(socket);
    const first = stalled?.get(command.conversation);
    if (first === undefined) return undefined;
    if (first.cid !== command.messages[0]?.cid) return first.refusal;
    stalled?.delete(command.conversation);
    return undefined;
  }

  #stallAfter({ conversation, messages }: CommandOf<"send">, refusal: Refusal, socket: ModelSocket): void {
    const stalled = this.#stalled.get(socket) ?? new Map<ConversationId, { cid: Uuid; refusal: Refusal }>();
    if (!stalled.has(conversation)) stalled.set(conversation, { cid: messages[0]?.cid ?? "", refusal });
    this.#stalled.set(socket, stalled);
  }

  listMessageFlags(user: Uuid, conversation: ConversationId): MessageFlags | Refusal {
    const log = this.logs.get(conversation);
    const me = log?.members.get(user);
    return log && me ? listModelMessageFlags(log, me) : { error: "conversation_not_found" };
  }

  #run(user: Uuid, command: Command, source: Caller | undefined, device: string) {
    if (command.type === "changes") return this.listChanges(user, command.since, command.before);
    if (command.type === "multicast") return this.#multicast(user, command, source);
    const log = this.logs.get(command.conversation);
    const me = log?.members.get(user);
    // A former member still learns the outcome of the messages they sent.
    if (log?.former?.has(user) && command.type === "send") return this.#sendAll(user, log, command, source);
    if (!log || !me) return { error: "conversation_not_found" } as const;
    switch (command.type) {
      case "send":
        return this.#sendAll(user, log, command, source);
      case "mark":
        return this.#updateReadState(user, log, command);
      case "clearHistory":
        Object.assign(me, {
          clearedUpTo: Math.max(me.clearedUpTo, Math.min(command.upTo, findVisibleHead(log, user))),
          keepListed: command.keep,
          flags: command.keep ? me.flags : noFlags,
        });
        this.pushRow(user, log);
        return { hidden: me.clearedUpTo, change: this.changeNumber(user, log) };
      case "mute":
        me.muted = command.muted;
        me.mutedExceptMentions = command.exceptMentions ?? false;
        me.mutedUntil = command.seconds === undefined ? null : Math.ceil(Date.now() / 1_000 + command.seconds) * 1_000;
        this.pushRow(user, log);
        return {
          muted: me.muted,
          ...(me.mutedExceptMentions ? { exceptMentions: true } : {}),
          ...(me.mutedUntil === null ? {} : { until: me.mutedUntil }),
          change: this.changeNumber(user, log),
        };
      case "setConversationFlags":
        return setModelFlags(me, command, {
          memberships: [...this.logs.values()].flatMap(({ members }) => members.get(user) ?? []),
          epoch: this.inbox(user).epoch,
          pushRow: () => this.#pushRowChange(user, log),
          lastChange: this.changeNumber(user, log),
        });
      case "setMessageFlags":
        return setModelMessageFlags(log, me, command, () => this.#pushRowChange(user, log));
      case "setDraft":
        return this.setDraft(user, command, device);
      case "deleteForEveryone":
        return this.#deleteForEveryone(user, log, command.seq);
      case "deletePending":
        return this.#deletePending(user, log, command.cid);
      case "editMessage":
        return this.#editMessage(user, log, command);
      case "pinMessage":
        return this.#pinMessage(user, log, command);
      case "react":
        return this.#react(user, log, command);
      case "revised":
        return listRevised(log, user, command.since, this.revisedRowsMax);
      case "page":
        return readLogPage(log, user, command, this.pageRowsMax);
      case "search":
        return searchLog(log, user, command);
      case "presence":
        return this.presence;
      default:
        return { error: "call_not_found" } as const; // this model has no calls
    }
  }

  #sendAll(user: Uuid, log: Log, { messages }: CommandOf<"send">, caller?: Caller) {
    const sent = [];
    for (const message of messages) {
      const place = this.#send(user, log, message, caller);
      if ("error" in place) return place;
      sent.push(place);
    }
    return { epoch: log.epoch, sent };
  }

  #multicast(user: Uuid, { body, source, to }: CommandOf<"multicast">, caller?: Caller): CommandResults["multicast"] {
    const answer: CommandResults["multicast"] = { sent: [], refused: [] };
    for (const [index, { conversation, cid }] of to.entries()) {
      const log = this.logs.get(conversation);
      const one = caller && { socket: caller.socket, ref: caller.ref + index };
      const place =
        log && (log.members.has(user) || log.former?.has(user))
          ? this.#send(user, log, { cid, body, source }, one)
          : ({ error: "conversation_not_found" } as const);
      if ("error" in place) {
        answer.refused.push({ cid, error: place.error });
        one?.socket.refuse(one.ref, place);
      } else answer.sent.push({ conversation, epoch: log?.epoch ?? "", ...place });
    }
    return answer;
  }

  #send(
    user: Uuid,
    log: Log,
    {
      cid,
      body,
      source,
    }: Omit<CommandOf<"send">["messages"][number], "source"> & { source?: ForwardSource | undefined },
    caller?: Caller,
  ): { cid: Uuid; seq: number; at: number } | Refusal {
    const known = log.messages.find((message) => message.author === user && message.cid === cid);
    if (known) {
      caller?.socket.acknowledge(this.inbox(user).counter, caller.ref, known);
      return { cid, seq: known.seq, at: known.at };
    }
    if (log.deletedPending.has(`${user} ${cid}`)) return { error: "message_withdrawn" };
    if (!log.members.has(user)) return { error: "conversation_not_found" };
    if (!log.open) return { error: "not_connected" };
    if (log.members.get(user)?.blocking) return { error: "contact_blocked" };
    const stored = this.#checkBody(user, body, source);
    if ("error" in stored) return stored;
    const seq = log.messages.length + 1;
    const at = Math.max(Date.now(), (log.messages.at(-1)?.at ?? 0) + 1);
    const sender = log.members.get(user)?.number ?? 0;
    const isUndelivered = [...log.members].some(([member, { blocking }]) => member !== user && blocking);
    const delivery = isUndelivered ? { undelivered: "now" as const } : {};
    log.messages.push({ seq, at, sender, body: stored, cid, author: user, revision: 0, ...delivery });
    for (const [member, membership] of log.members) {
      if (membership.blocking) continue;
      this.pushMessage(member, log, seq, member === user ? caller : undefined);
      const [message, change] = [log.messages[seq - 1], this.changeNumber(member, log)];
      if (message) endModelArchive(membership, message, change, () => this.#pushRowChange(member, log));
    }
    return { cid, seq, at };
  }

  /** Body as it is stored, or the refusal. */
  #checkBody(user: Uuid, body: Body, source: ForwardSource | undefined): Body | Refusal {
    const from = source && this.logs.get(source.conversation);
    const original = source && from?.members.has(user) ? from.messages[source.seq - 1] : undefined;
    if (source) {
      if (!original || toVisibleMessage(original, user).body.type !== body.type) return { error: "original_gone" };
      if (findAttachment(original.body)?.file !== findAttachment(body)?.file) return { error: "original_gone" };
      const before = "forwarded" in original.body ? original.body.forwarded : undefined;
      const { forwarded } = body;
      if (forwarded?.by !== original.author && forwarded?.by !== before?.by) return { error: "original_gone" };
    } else if (body.forwarded) return { error: "invalid_input" };
    const attachment = findAttachment(body);
    return attachment ? this.files.check(user, attachment, original !== undefined) : body;
  }

  #deleteForEveryone(user: Uuid, log: Log, seq: number): CommandResults["deleteForEveryone"] | Refusal {
    const message = log.messages[seq - 1];
    if (!message) return { error: "message_not_found" };
    const isOwner = isGroup(log) && isGroupActionAllowed(log.members.get(user)?.role ?? "member", "deleteMessages");
    const isSystem = isSystemMessage(message.body);
    if (message.author !== user && (!isOwner || isSystem)) return { error: "not_your_message" };
    if (message.body.type !== "deleted") {
      message.body = createTombstone(message.author === user ? undefined : log.members.get(user)?.number);
      delete message.reactions;
      const isPinned = log.pinned?.includes(seq);
      log.pinned = log.pinned?.filter((one) => one !== seq);
      this.#change(log, [message], [...log.members.keys()]);
      if (isPinned) for (const member of log.members.keys()) this.pushRow(member, log);
      if (message.author !== user && isGroup(log)) this.recordOwnerDeletion(log, user, message.sender);
    }
    const { by } = message.body as Tombstone;
    return { revision: message.revision, ...(by === undefined ? {} : { by }) };
  }

  #pinMessage(
    user: Uuid,
    log: Log,
    { seq, pinned: isPinned }: CommandOf<"pinMessage">,
  ): CommandResults["pinMessage"] | Refusal {
    const [me, message] = [log.members.get(user), log.messages[seq - 1]];
    if (isGroup(log) && !isGroupActionAllowed(me?.role ?? "member", "pin")) return { error: "not_allowed" };
    if (!me || !message || (isPinned && seq <= me.clearedUpTo) || message.body.type === "deleted")
      return { error: "message_not_found" };
    const before = listPinned(log);
    if (before.includes(seq) === isPinned) return { pinned: before };
    if (isPinned && before.length >= pinnedMessagesMax) return { error: "too_many_pinned_messages" };
    const others = (log.pinned ?? []).filter((one) => one !== seq);
    log.pinned = isPinned ? [...others, seq] : others;
    if (isPinned) this.recordPin(log, user);
    else for (const member of log.members.keys()) this.pushRow(member, log);
    return { pinned: listPinned(log) };
  }

  #react(user: Uuid, log: Log, { seq, emoji }: CommandOf<"react">): CommandResults["react"] | Refusal {
    const message = log.messages[seq - 1];
    if (!message || message.body.type === "deleted") return { error: "message_not_found" };
    const { reactions = new Map<Uuid, string>() } = message;
    if ((reactions.get(user) ?? null) === emoji) return { revision: message.revision };
    if (emoji !== null && !log.open) return { error: "not_connected" };
    reactions.delete(user);
    if (emoji !== null) reactions.set(user, emoji);
    message.reactions = reactions;
    const since = log.revision;
    message.revision = ++log.revision;
    for (const [member, { blocking }] of log.members) {
      if (blocking) continue;
      const changed = [{ seq, summary: summarizeReactions(message, member) }];
      const row = this.row(member, log);
      this.recordChange(member, log.id, this.push(member, { type: "reactions", row, since, changed }));
    }
    return { revision: message.revision };
  }

  #deletePending(user: Uuid, log: Log, cid: Uuid): CommandResults["deletePending"] | Refusal {
    const message = log.messages.find(({ author, ...one }) => author === user && one.cid === cid);
    if (!message) {
      log.deletedPending.add(`${user} ${cid}`);
      return { revision: log.revision, place: null };
    }
    const done = this.#deleteForEveryone(user, log, message.seq);
    return isRefusal(done) ? done : { ...done, place: { seq: message.seq, at: message.at } };
  }

  #editMessage(
    user: Uuid,
    log: Log,
    { target, edit, text }: CommandOf<"editMessage">,
  ): CommandResults["editMessage"] | Refusal {
    const message = log.messages.find(({ author, seq, cid }) =>
      typeof target === "number" ? seq === target : author === user && cid === target,
    );
    if (!message) return { error: "message_not_found" };
    if (message.author !== user) return { error: "not_your_message" };
    const { body } = message;
    if (body.type === "deleted") return { error: "message_withdrawn" };
    if (!isEditableBody(body)) return { error: "invalid_input" };
    const [before, edited] = [body.text ?? "", getEditNumber(body)];
    message.earlier ??= [];
    if (text === before || message.earlier.some((one) => one.number > edit && one.text === text))
      return { revision: message.revision, edited };
    if (Date.now() - message.at > editWindowMs) return { error: "edit_too_late" };
    if (!log.open) return { error: "not_connected" };
    message.earlier.push({ number: edited, text: before });
    const number = Math.max(edited, edit) + 1;
    message.body = withMentions(withText(body, text, number), keepMentions(body, text));
    this.#change(log, [message], [...log.members.keys()]);
    return { revision: message.revision, edited: number };
  }

  /** Changes stored messages, each under its own revision, and notifies these members. */
  #change(log: Log, messages: LogMessage[], members: Uuid[]): void {
    const since = log.revision;
    for (const message of messages) message.revision = ++log.revision;
    for (const member of members) {
      if (log.members.get(member)?.blocking) continue;
      const shown = messages.map((message) => toVisibleMessage(message, member, log.members.get(member)));
      const row = this.row(member, log);
      this.recordChange(member, log.id, this.push(member, { type: "changed", row, since, messages: shown }));
      if (messages.some(({ author, seq }) => author !== member && seq > row.read))
        this.recordChange(member, log.id, this.push(member, { type: "mine", row }));
    }
  }

  /**
   * Blocks or unblocks. The blocking person is not notified of the other's actions, and the other is not notified of
   * the block.
   */
  block(user: Uuid, id: ConversationId, isBlocked: boolean): void {
    const log = this.log(id);
    const me = log.members.get(user);
    const other = otherMember(id, user) ?? "";
    const known = this.inbox(user).people.get(other)?.relation;
    if (!me || !known || isBlocked === (me.blocking !== undefined)) return;
    this.updateContact(user, { ...known, blocked: isBlocked });
    if (isBlocked) {
      me.blocking = { ends: log.messages.length, shown: { delivered: me.delivered, read: me.read } };
      return;
    }
    delete me.blocking;
    const held = log.messages.filter(({ undelivered: withheld, author }) => withheld === "now" && author === other);
    for (const message of held) message.undelivered = "for good";
    this.#change(log, held, [other]);
    this.pushRow(user, log);
    this.recordChange(other, id, this.push(other, { type: "others", row: this.row(other, log) }));
  }

  /** Sends a typing signal to the others' sockets; nothing is stored. */
  sendTyping(user: Uuid, id: ConversationId): void {
    const log = this.log(id);
    for (const [member, { blocking }] of log.members) {
      if (member === user || blocking || log.members.get(user)?.blocking) continue;
      const { handle } = this.entry(member, id);
      for (const socket of this.inbox(member).sockets) socket.pushTyping(handle, log.members.get(user)?.number ?? 0);
    }
  }

  #updateReadState(user: Uuid, log: Log, command: ReadState) {
    const before = log.members.get(user);
    if (!before) return { error: "conversation_not_found" } as const;
    const after = mergeReadStates(before, clampReadState(command, findVisibleHead(log, user)));
    if (after.delivered !== before.delivered || after.read !== before.read) {
      log.members.set(user, { ...before, ...after });
      for (const member of log.members.keys()) {
        if (member !== user && before.blocking) continue;
        const type = member === user ? "mine" : "others";
        this.recordChange(member, log.id, this.push(member, { type, row: this.row(member, log) }));
      }
    }
    const me = log.members.get(user);
    if (me && me.read > before.read) {
      me.lastReadChange = this.changeNumber(user, log).counter;
      endModelMark(me, () => this.#pushRowChange(user, log));
    }
    return { unread: this.row(user, log).unread, head: findVisibleHead(log, user) };
  }

  #pushRowChange(user: Uuid, log: Log): ChangeNumber {
    this.pushRow(user, log);
    return this.changeNumber(user, log);
  }
}
