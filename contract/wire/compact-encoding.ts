import * as v from "valibot";
import type { InboxRow } from "#contract/conversations.ts";
import { type GroupCard, groupRoles } from "#contract/groups.ts";
import { ConversationId, PackedUuid, packUuid, type Uuid, unpackUuid } from "#contract/ids.ts";
import { GroupPlace, ReplyPlace, StoredBody } from "#contract/messages/body.ts";
import type { Message } from "#contract/messages/message.ts";
import { Seq, Watermark } from "#contract/messages/positions.ts";
import { type Relation, relationStates } from "#contract/people.ts";

/**
 * Compact encoding of messages, rows and people in frames: tuples instead of named fields, plain strings for texts, and
 * times relative to the `now` of the socket's welcome. Each type has a pair of pure functions; only this file knows the
 * encoding.
 */
const Int = v.pipe(v.number(), v.safeInteger());
const Bit = v.picklist([0, 1]);

/** A text, or a text and the place of the message that it answers. */
export const WireText = v.union([v.string(), v.strictTuple([v.string(), ReplyPlace])]);
/** An edited text has the place of the message that it answers or 0, and the number of its last edit. */
const EditedText = v.strictTuple([v.string(), v.union([Watermark, GroupPlace]), Seq]);
export const WireBody = v.union([WireText, EditedText, StoredBody]);
export type WireBody = v.InferOutput<typeof WireBody>;
export const toWireBody = (body: StoredBody): WireBody => {
  if (body.type !== "text" || body.forwarded || body.mentions) return body;
  const { text, reply, edited } = body;
  if (edited !== undefined) return [text, reply ?? 0, edited];
  return reply === undefined ? text : [text, reply];
};
export const fromWireBody = (body: WireBody): StoredBody => {
  if (!Array.isArray(body)) return typeof body === "string" ? { type: "text", text: body } : body;
  const [text, reply, edited] = body;
  return { type: "text", text, ...(reply ? { reply } : {}), ...(edited ? { edited } : {}) };
};

/**
 * seq, time, sender and body; for the author's own devices also the client id and whether it is undelivered. With
 * reactions, all of these and the summary of the reactions.
 */
export const WireMessage = v.union([
  v.strictTuple([Int, Int, Int, WireBody]),
  v.strictTuple([Int, Int, Int, WireBody, PackedUuid]),
  v.strictTuple([Int, Int, Int, WireBody, PackedUuid, v.literal(1)]),
  v.strictTuple([Int, Int, Int, WireBody, v.nullable(PackedUuid), Bit, v.string()]),
]);
export type WireMessage = v.InferOutput<typeof WireMessage>;
export const toWireMessage = (message: Message, now: number): WireMessage => {
  const { seq, at, sender, body, cid, held, reactions } = message;
  const fields = [seq, at - now, sender, toWireBody(body)] as const;
  const packed = cid === undefined ? null : packUuid(cid);
  if (reactions) return [...fields, packed, held ? 1 : 0, reactions];
  if (packed === null) return [...fields];
  return held ? [...fields, packed, 1] : [...fields, packed];
};
export const fromWireMessage = ([seq, at, sender, body, cid, held, reactions]: WireMessage, now: number): Message => ({
  seq,
  at: at + now,
  sender,
  body: fromWireBody(body),
  ...(cid ? { cid: unpackUuid(cid) } : {}),
  ...(held ? { held: true as const } : {}),
  ...(reactions ? { reactions } : {}),
});

const WireGroup = v.strictTuple([
  v.string(), // name
  v.nullable(v.string()), // picture
  Int, // members
  Int, // members version
  v.pipe(Int, v.minValue(0), v.maxValue(groupRoles.length - 1)), // own role
  Int, // own number
]);
const rowFields = [
  Int, // handle
  ConversationId,
  v.string(), // epoch
  Int, // head
  Int, // at
  Int, // sender
  v.nullable(WireBody),
  Bit, // whole
  Int, // unread
  v.tuple([Int, Int]), // own delivered, read
  v.tuple([Int, Int]), // the others' delivered, read
  Int, // hidden
  // flags: 1 open, 2 muted, 4 kept, 8 gone, 16 muted except mentions, 32 marked as unread, 64 archived; above the
  // lowest eight bits the end of a timed mute in epoch seconds
  Int,
  Int, // revision
  v.nullable(Int), // age difference to the message before the newest
] as const;
export const WireRow = v.union([
  v.strictTuple(rowFields),
  v.strictTuple([...rowFields, WireGroup]),
  v.strictTuple([...rowFields, WireGroup, v.array(Int)]), // with unread mentions
  v.strictTuple([...rowFields, v.nullable(WireGroup), v.array(Int), Int]), // of a pinned conversation, with the time
  // with the revision of message flags and the pinned messages
  v.strictTuple([...rowFields, v.nullable(WireGroup), v.array(Int), v.nullable(Int), Int, v.array(Int)]),
]);
const muteEndUnit = 256; // of the flags
const toFlags = (row: InboxRow): number =>
  ((row.open ? 1 : 0) |
    (row.muted ? 2 : 0) |
    (row.kept ? 4 : 0) |
    (row.gone ? 8 : 0) |
    (row.mutedExceptMentions ? 16 : 0) |
    (row.marked ? 32 : 0) |
    (row.archived ? 64 : 0)) +
  (row.mutedUntil === null ? 0 : Math.ceil(row.mutedUntil / 1_000) * muteEndUnit);
const fromMuteEnd = (flags: number): number | null =>
  flags < muteEndUnit ? null : Math.floor(flags / muteEndUnit) * 1_000;
export type WireRow = v.InferOutput<typeof WireRow>;
const toWireGroup = ({ name, picture, count, roster, role, number }: GroupCard): v.InferOutput<typeof WireGroup> => [
  name,
  picture,
  count,
  roster,
  groupRoles.indexOf(role),
  number,
];
const fromWireGroup = ([name, picture, count, roster, role, number]: v.InferOutput<typeof WireGroup>): GroupCard => ({
  name,
  picture,
  count,
  roster,
  role: groupRoles[role] ?? "member",
  number,
});
export const toWireRow = (row: InboxRow, now: number): WireRow => {
  const fields: v.InferOutput<v.StrictTupleSchema<typeof rowFields, undefined>> = [
    row.handle,
    row.conversation,
    row.epoch,
    row.head,
    row.at - now,
    row.sender,
    row.preview && toWireBody(row.preview),
    row.whole ? 1 : 0,
    row.unread,
    [row.delivered, row.read],
    [row.othersDelivered, row.othersRead],
    row.hidden,
    toFlags(row),
    row.revision,
    row.prior === null ? null : row.at - row.prior,
  ];
  if (row.flagsRevision > 0 || row.pinnedMessages.length > 0) {
    const pinned = row.pinnedAt === null ? null : row.pinnedAt - now;
    const group = row.group && toWireGroup(row.group);
    return [...fields, group, row.mentions, pinned, row.flagsRevision, row.pinnedMessages];
  }
  if (row.pinnedAt !== null) return [...fields, row.group && toWireGroup(row.group), row.mentions, row.pinnedAt - now];
  if (!row.group) return fields;
  const groupFields = [...fields, toWireGroup(row.group)] as const;
  return row.mentions.length > 0 ? [...groupFields, row.mentions] : [...groupFields];
};
export const fromWireRow = (row: WireRow, now: number): InboxRow => {
  const [
    handle,
    conversation,
    epoch,
    head,
    at,
    sender,
    preview,
    whole,
    unread,
    ownReadState,
    peerReadState,
    hidden,
    ...rest
  ] = row;
  const [flags, revision, ageDifference, group, mentions = [], pinned = null, flagsRevision = 0, pinnedMessages = []] =
    rest;
  return {
    handle,
    conversation,
    kind: conversation.includes(".") ? "private" : "group",
    epoch,
    head,
    at: at + now,
    prior: ageDifference === null ? null : at + now - ageDifference,
    sender,
    preview: preview === null ? null : fromWireBody(preview),
    whole: whole === 1,
    unread,
    mentions,
    delivered: ownReadState[0],
    read: ownReadState[1],
    othersDelivered: peerReadState[0],
    othersRead: peerReadState[1],
    hidden,
    open: (flags & 1) !== 0,
    muted: (flags & 2) !== 0,
    mutedUntil: fromMuteEnd(flags),
    mutedExceptMentions: (flags & 16) !== 0,
    marked: (flags & 32) !== 0,
    archived: (flags & 64) !== 0,
    pinnedAt: pinned === null ? null : pinned + now,
    flagsRevision,
    kept: (flags & 4) !== 0,
    revision,
    pinnedMessages,
    group: group ? fromWireGroup(group) : null,
    gone: (flags & 8) !== 0,
  };
};

const Millis = v.number();
/** Bits of a person: blocked by the user, account deleted, and the notices about the number. */
const personFlags = { blocked: 1, deleted: 2, left: 4, changed: 8 } as const;
const invitationsUnit = 16; // the number of invitations to groups follows the bits
export const WirePerson = v.tuple([
  PackedUuid,
  v.string(), // username
  v.string(), // phone
  v.nullable(v.string()), // avatar
  Millis, // member since
  v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(relationStates.length - 1)),
  v.nullable(PackedUuid), // request
  v.nullable(PackedUuid), // connection
  Millis, // since
  v.pipe(v.number(), v.integer(), v.minValue(0)), // `personFlags`
]);
export type WirePerson = v.InferOutput<typeof WirePerson>;
const packOrNull = (id: Uuid | null) => id && packUuid(id);
const unpackOrNull = (id: PackedUuid | null) => id && unpackUuid(id);
export const toWirePerson = ({ profile, ...row }: Relation): WirePerson => [
  packUuid(profile.id),
  profile.username,
  profile.phone,
  profile.avatar_url,
  profile.created_at,
  relationStates.indexOf(row.state),
  packOrNull(row.request_id),
  packOrNull(row.connection_id),
  row.since,
  (profile.deleted ? personFlags.deleted : 0) |
    (row.blocked ? personFlags.blocked : 0) |
    (row.number_notice ? personFlags[row.number_notice] : 0) |
    ((row.group_invitations ?? 0) * invitationsUnit),
];
export const fromWirePerson = (person: WirePerson): Relation => {
  const [id, username, phone, avatar, createdAt, state, request, connection, since, flags] = person;
  const profile = { id: unpackUuid(id), username, phone, avatar_url: avatar, created_at: createdAt };
  const has = (flag: number) => (flags & flag) !== 0;
  const invitations = Math.floor(flags / invitationsUnit);
  return {
    profile: has(personFlags.deleted) ? { ...profile, deleted: true } : profile,
    state: relationStates[state] ?? "none",
    request_id: unpackOrNull(request),
    connection_id: unpackOrNull(connection),
    since,
    blocked: has(personFlags.blocked),
    ...(has(personFlags.left) ? { number_notice: "left" as const } : {}),
    ...(has(personFlags.changed) ? { number_notice: "changed" as const } : {}),
    ...(invitations > 0 ? { group_invitations: invitations } : {}),
  };
};
