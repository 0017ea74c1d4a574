import * as v from "valibot";
import { type InboxRow, type Message, StoredBody } from "#contract/conversations.ts";
import { type GroupCard, groupRoles } from "#contract/groups.ts";
import { ConversationId, PackedUuid, packUuid, type Uuid, unpackUuid } from "#contract/ids.ts";
import { type Relation, relationStates } from "#contract/people.ts";

/**
 * The short forms in which messages, rows and people travel inside frames: tuples instead of named fields,
 * a bare string for a text, times relative to the `now` of the socket's welcome. Each has a pair of pure
 * functions, and nothing else in the project knows the short form.
 */
const Int = v.pipe(v.number(), v.safeInteger());
const Bit = v.picklist([0, 1]);

export const WireBody = v.union([v.string(), StoredBody]);
export type WireBody = v.InferOutput<typeof WireBody>;
export const toWireBody = (body: StoredBody): WireBody => (body.type === "text" && !body.forwarded ? body.text : body);
export const fromWireBody = (body: WireBody): StoredBody =>
  typeof body === "string" ? { type: "text", text: body } : body;

/** seq, time, sender, body, and for the author's own devices the client id and whether it was held back. */
export const WireMessage = v.union([
  v.strictTuple([Int, Int, Int, WireBody]),
  v.strictTuple([Int, Int, Int, WireBody, PackedUuid]),
  v.strictTuple([Int, Int, Int, WireBody, PackedUuid, v.literal(1)]),
]);
export type WireMessage = v.InferOutput<typeof WireMessage>;
export const toWireMessage = (m: Message, now: number): WireMessage => {
  if (m.cid === undefined) return [m.seq, m.at - now, m.sender, toWireBody(m.body)];
  const own = [m.seq, m.at - now, m.sender, toWireBody(m.body), packUuid(m.cid)] as const;
  return m.held ? [...own, 1] : [...own];
};
export const fromWireMessage = ([seq, at, sender, body, cid, held]: WireMessage, now: number): Message => {
  const message = { seq, at: at + now, sender, body: fromWireBody(body) };
  if (cid === undefined) return message;
  return { ...message, cid: unpackUuid(cid), ...(held ? { held: true as const } : {}) };
};

const WireGroup = v.strictTuple([
  v.string(), // name
  v.nullable(v.string()), // picture
  Int, // members
  Int, // roster
  v.pipe(Int, v.minValue(0), v.maxValue(groupRoles.length - 1)), // my role
  Int, // my number
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
  v.tuple([Int, Int]), // my delivered, read
  v.tuple([Int, Int]), // the others'
  Int, // hidden
  Int, // flags: 1 open, 2 muted, 4 kept, 8 gone
  Int, // revision
  v.nullable(Int), // by how much the message before the newest is older
] as const;
export const WireRow = v.union([v.strictTuple(rowFields), v.strictTuple([...rowFields, WireGroup])]);
const toFlags = (r: InboxRow): number => (r.open ? 1 : 0) | (r.muted ? 2 : 0) | (r.kept ? 4 : 0) | (r.gone ? 8 : 0);
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
export const toWireRow = (r: InboxRow, now: number): WireRow => {
  const short: v.InferOutput<v.StrictTupleSchema<typeof rowFields, undefined>> = [
    r.handle,
    r.conversation,
    r.epoch,
    r.head,
    r.at - now,
    r.sender,
    r.preview && toWireBody(r.preview),
    r.whole ? 1 : 0,
    r.unread,
    [r.delivered, r.read],
    [r.othersDelivered, r.othersRead],
    r.hidden,
    toFlags(r),
    r.revision,
    r.prior === null ? null : r.at - r.prior,
  ];
  return r.group ? [...short, toWireGroup(r.group)] : short;
};
export const fromWireRow = (row: WireRow, now: number): InboxRow => {
  const [handle, conversation, epoch, head, at, sender, preview, whole, unread, mine, others, hidden, ...rest] = row;
  const [flags, revision, older, group] = rest;
  return {
    handle,
    conversation,
    kind: conversation.includes(".") ? "private" : "group",
    epoch,
    head,
    at: at + now,
    prior: older === null ? null : at + now - older,
    sender,
    preview: preview === null ? null : fromWireBody(preview),
    whole: whole === 1,
    unread,
    delivered: mine[0],
    read: mine[1],
    othersDelivered: others[0],
    othersRead: others[1],
    hidden,
    open: (flags & 1) !== 0,
    muted: (flags & 2) !== 0,
    kept: (flags & 4) !== 0,
    revision,
    group: group ? fromWireGroup(group) : null,
    gone: (flags & 8) !== 0,
  };
};

const Millis = v.number();
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
  v.picklist([0, 1, 2]), // 1 blocked by me, 2 the account is gone
]);
export type WirePerson = v.InferOutput<typeof WirePerson>;
const packOrNull = (id: Uuid | null) => id && packUuid(id);
const unpackOrNull = (id: PackedUuid | null) => id && unpackUuid(id);
export const toWirePerson = ({ profile: p, ...r }: Relation): WirePerson => [
  packUuid(p.id),
  p.username,
  p.phone,
  p.avatar_url,
  p.created_at,
  relationStates.indexOf(r.state),
  packOrNull(r.request_id),
  packOrNull(r.connection_id),
  r.since,
  p.deleted ? 2 : r.blocked ? 1 : 0,
];
export const fromWirePerson = (person: WirePerson): Relation => {
  const [id, username, phone, avatar, createdAt, state, request, connection, since, flag] = person;
  const profile = { id: unpackUuid(id), username, phone, avatar_url: avatar, created_at: createdAt };
  return {
    profile: flag === 2 ? { ...profile, deleted: true } : profile,
    state: relationStates[state] ?? "none",
    request_id: unpackOrNull(request),
    connection_id: unpackOrNull(connection),
    since,
    blocked: flag === 1,
  };
};
