import * as v from "valibot";
import type { InboxRow } from "#contract/conversations.ts";
import { groupRoles } from "#contract/groups.ts";
import { ConversationId } from "#contract/ids.ts";
import { Body, ReplyPlace, StoredBody } from "#contract/messages/body.ts";
import { Seq } from "#contract/messages/positions.ts";
import { type Relation, relationStates } from "#contract/people.ts";
import {
  bit,
  bits,
  type Codec,
  count,
  int,
  list,
  mark,
  nullable,
  oneOf,
  optional,
  plain,
  text,
  time,
  tuple,
  uuid,
} from "./codec.ts";

// Compact forms of messages, rows and people in frames: tuples instead of named fields, and plain strings for texts.

const replyPlace: Codec<ReplyPlace | undefined, ReplyPlace | 0> = {
  schema: v.union([v.literal(0), ReplyPlace]),
  encode: (reply) => reply ?? 0,
  decode: (wire) => (wire === 0 ? undefined : wire),
};
const textBody = tuple([["text", text]], [["reply", replyPlace]], [["edited", plain(Seq)]]);
type WireText = string | Extract<ReturnType<typeof textBody.encode>, [string, unknown, ...unknown[]]>;

const createBodyCodec = <B extends StoredBody>(schema: v.GenericSchema<unknown, B>): Codec<B, WireText | B> => ({
  schema: v.union([v.string(), textBody.schema, schema]) as v.GenericSchema<unknown, WireText | B>,
  encode(body, base) {
    if (body.type !== "text" || body.forwarded || body.mentions) return body;
    const [bare, ...more] = textBody.encode(body, base);
    return more.length === 0 ? bare : ([bare, ...more] as WireText);
  },
  decode(wire, base) {
    if (typeof wire === "object" && !Array.isArray(wire)) return wire;
    return { type: "text", ...(typeof wire === "string" ? { text: wire } : textBody.decode(wire, base)) } as B;
  },
});

/** Body of a stored message: a text without marks and mentions is a string, or a tuple if it answers or was edited. */
export const storedBody = createBodyCodec(StoredBody);
/** Body of a new message. */
export const sentBody = createBodyCodec(Body);

/** The client id is sent to the author only. */
export const message = tuple(
  [
    ["seq", int],
    ["at", time],
    ["sender", int],
    ["body", storedBody],
  ],
  [["cid", optional(uuid)]],
  [["held", mark]],
  [["reactions", text]],
);

const groupCard = tuple([
  ["name", text],
  ["picture", nullable(text)],
  ["count", int],
  ["roster", int],
  ["role", oneOf(groupRoles)],
  ["number", int],
]);

/** The id, from which the kind of the conversation follows. */
const conversation: Codec<Pick<InboxRow, "conversation" | "kind">, string> = {
  schema: ConversationId,
  encode: (row) => row.conversation,
  decode: (id) => ({ conversation: id, kind: id.includes(".") ? "private" : "group" }),
};
const flagNames = ["open", "muted", "kept", "gone", "mutedExceptMentions", "marked", "archived"] as const;
const rowFlags = bits(flagNames);
const muteEndUnit = 256;
/** Flags, and above them the end of a timed mute in epoch seconds. */
const flagsAndMuteEnd: Codec<ReturnType<typeof rowFlags.decode> & Pick<InboxRow, "mutedUntil">, number> = {
  schema: count.schema,
  encode: (row, base) => rowFlags.encode(row, base) + Math.ceil((row.mutedUntil ?? 0) / 1_000) * muteEndUnit,
  decode: (wire, base) => {
    const end = Math.floor(wire / muteEndUnit);
    return Object.assign(rowFlags.decode(wire, base), { mutedUntil: end === 0 ? null : end * 1_000 });
  },
};

export const inboxRow = tuple(
  [
    ["handle", int],
    [["conversation", "kind"], conversation],
    ["epoch", text],
    ["head", int],
    ["at", time],
    ["sender", int],
    ["preview", nullable(storedBody)],
    ["whole", bit],
    ["unread", int],
    [
      ["delivered", "read"],
      tuple([
        ["delivered", int],
        ["read", int],
      ]),
    ],
    [
      ["othersDelivered", "othersRead"],
      tuple([
        ["othersDelivered", int],
        ["othersRead", int],
      ]),
    ],
    ["hidden", int],
    [[...flagNames, "mutedUntil"], flagsAndMuteEnd],
    ["revision", int],
  ],
  [["group", nullable(groupCard), null]],
  [["mentions", list(int), []]],
  [["pinnedAt", nullable(time), null]],
  [
    ["flagsRevision", int, 0],
    ["pinnedMessages", list(int), []],
  ],
);

/** Bits of a person: blocked by the user, account deleted, and the notices about the number. */
const personBits = { blocked: 1, deleted: 2, left: 4, changed: 8 } as const;
const invitationsUnit = 16; // the number of invitations to groups is above the bits
type PersonFlags = Pick<Relation, "blocked" | "number_notice" | "group_invitations"> &
  Pick<Relation["profile"], "deleted">;
const personFlags: Codec<PersonFlags, number> = {
  schema: count.schema,
  encode: ({ blocked, deleted, number_notice: notice, group_invitations: invitations = 0 }) =>
    (blocked ? personBits.blocked : 0) +
    (deleted ? personBits.deleted : 0) +
    (notice ? personBits[notice] : 0) +
    invitations * invitationsUnit,
  decode: (wire) => ({
    blocked: (wire & personBits.blocked) !== 0,
    ...(wire & personBits.deleted ? { deleted: true } : {}),
    ...(wire & personBits.left ? { number_notice: "left" } : {}),
    ...(wire & personBits.changed ? { number_notice: "changed" } : {}),
    ...(wire < invitationsUnit ? {} : { group_invitations: Math.floor(wire / invitationsUnit) }),
  }),
};

const person = tuple([
  ["id", uuid],
  ["username", text],
  ["phone", text],
  ["avatar_url", nullable(text)],
  ["created_at", plain(v.number())],
  ["state", oneOf(relationStates)],
  ["request_id", nullable(uuid)],
  ["connection_id", nullable(uuid)],
  ["since", plain(v.number())],
  [[], personFlags],
]);

export const relation: Codec<Relation, ReturnType<typeof person.encode>> = {
  schema: person.schema,
  encode: ({ profile, ...row }, base) => person.encode({ ...profile, ...row }, base),
  decode(wire, base) {
    const { id, username, phone, avatar_url, created_at, deleted, ...row } = person.decode(wire, base);
    return { profile: { id, username, phone, avatar_url, created_at, ...(deleted ? { deleted } : {}) }, ...row };
  },
};
