import * as v from "valibot";

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const packedPattern = /^[A-Za-z0-9_-]{22}$/;

export const Uuid = v.pipe(v.string(), v.regex(uuidPattern, "must be a lower-case UUID"));
export type Uuid = v.InferOutput<typeof Uuid>;

/** In the place of somebody whose account is gone. */
export const deletedUserId: Uuid = "00000000-0000-0000-0000-000000000000";

/** A UUID's 16 bytes as 22 characters of base64url: the short form that travels in frames. */
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

/** A UUIDv7 (RFC 9562 §5.7): 48 bits of time, then randomness, so that ids made later sort later. */
export const createUuid = (now: number = Date.now()): Uuid => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  for (let i = 0; i < 6; i++) bytes[i] = Math.floor(now / 2 ** (8 * (5 - i))) % 256;
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};

/** When a UUIDv7 was made. */
export const timeOfUuid = (uuid: Uuid): number => Number.parseInt(uuid.replace("-", "").slice(0, 12), 16);

/**
 * A conversation's name. A private one is named by its two people in sorted order, so that a phone without
 * network can open it and queue a first message; a group has a UUID of its own.
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

/** The two people of a private conversation in member order, or undefined for a group. */
export const privateMembers = (id: ConversationId): [Uuid, Uuid] | undefined => {
  const [first, second] = id.split(".");
  return first && second ? [first, second] : undefined;
};

/** The other person of a private conversation, or undefined for a group or somebody else's chat. */
export const otherMember = (id: ConversationId, me: Uuid): Uuid | undefined => {
  const members = privateMembers(id);
  if (!members?.includes(me)) return undefined;
  return members[0] === me ? members[1] : members[0];
};
