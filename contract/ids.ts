import * as v from "valibot";

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const packedPattern = /^[A-Za-z0-9_-]{22}$/;

export const Uuid = v.pipe(v.string(), v.regex(uuidPattern, "must be a lower-case UUID"));
export type Uuid = v.InferOutput<typeof Uuid>;

/** Placeholder id of a deleted account. */
export const deletedUserId: Uuid = "00000000-0000-0000-0000-000000000000";

/** UUID as 22 characters of base64url, used in frames. */
export const PackedUuid = v.pipe(v.string(), v.regex(packedPattern, "must be a packed UUID"));
export type PackedUuid = v.InferOutput<typeof PackedUuid>;

export const packUuid = (uuid: Uuid): PackedUuid => {
  const bytes = uuid.replaceAll("-", "").match(/../g) ?? [];
  return btoa(String.fromCharCode(...bytes.map((byte) => Number.parseInt(byte, 16))))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
};

export const unpackUuid = (packed: PackedUuid): Uuid => {
  const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const hex = Array.from(binary, (char) => char.charCodeAt(0).toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};

/** Creates a UUIDv7 (RFC 9562 §5.7): 48 bits of time followed by random bits, so that ids sort by creation time. */
export const createUuid = (now: number = Date.now()): Uuid => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  for (let i = 0; i < 6; i++) bytes[i] = Math.floor(now / 2 ** (8 * (5 - i))) % 256;
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};

/** Creation time of a UUIDv7, epoch milliseconds. */
export const timeOfUuid = (uuid: Uuid): number => Number.parseInt(uuid.replace("-", "").slice(0, 12), 16);

/**
 * Conversation id. A private one consists of its two user ids in sorted order, so that a device can open it offline and
 * queue a first message. A group has its own UUID.
 */
export const ConversationId = v.pipe(
  v.string(),
  v.check((id) => {
    const parts = id.split(".");
    const [first = "", second] = parts;
    if (parts.length > 2 || !uuidPattern.test(first)) return false;
    return second === undefined || (uuidPattern.test(second) && first < second);
  }, "must be a conversation id"),
);
export type ConversationId = v.InferOutput<typeof ConversationId>;

export const privateConversationId = (a: Uuid, b: Uuid): ConversationId => (a < b ? `${a}.${b}` : `${b}.${a}`);

/** The two user ids of a private conversation in member order, undefined for a group. */
export const privateMembers = (id: ConversationId): [Uuid, Uuid] | undefined => {
  const [first, second] = id.split(".");
  return first && second ? [first, second] : undefined;
};

/** The other user of a private conversation, undefined for a group or a chat of other people. */
export const otherMember = (id: ConversationId, me: Uuid): Uuid | undefined => {
  const members = privateMembers(id);
  if (!members?.includes(me)) return undefined;
  return members[0] === me ? members[1] : members[0];
};
