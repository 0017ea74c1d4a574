import { changeNumber, count, type SocketBase, time, tuple } from "./codec.ts";
import { decodeReactions, encodeReactions, type ReactionsChange } from "./reactions.ts";

// Frames that are no JSON, because they are the most frequent: numbers in base 36, separated by commas, then a text.

/** Text from the peer of a private chat. Five fields, no quotes, at most 12 bytes of overhead. */
const liveText = tuple([
  ["counter", changeNumber],
  ["target", count],
  ["seq", count],
  ["at", time],
]);
type LiveText = ReturnType<typeof liveText.decode> & { type: "liveText"; text: string };

/**
 * Edit of one text or caption without mentions, in a device's view the change from the revision before: the device
 * takes everything else from its own copy of the message. At most 14 bytes of overhead in a chat of ordinary length.
 */
const liveEdit = tuple([
  ["counter", changeNumber],
  ["target", count],
  ["seq", count],
  ["revision", count],
  ["edited", count],
]);
type LiveEdit = ReturnType<typeof liveEdit.decode> & { type: "liveEdit"; text: string };

export type ShortFrame = LiveText | LiveEdit | ({ type: "reactions" } & ReactionsChange);

const toBase36 = (numbers: readonly number[]): string => numbers.map((number) => `${number.toString(36)},`).join("");

export const encodeShortFrame = (frame: ShortFrame, base: SocketBase): string => {
  if (frame.type === "reactions") return encodeReactions(frame, base);
  if (frame.type === "liveText") return toBase36(liveText.encode(frame, base)) + frame.text;
  return `~${toBase36(liveEdit.encode(frame, base))}${frame.text}`;
};

const livePattern = /^(?:~(?:[0-9a-z]{1,10},){5}|(?:[0-9a-z]{1,10},){3}-?[0-9a-z]{1,10},)/;

/** Undefined if the text is no such frame. */
export const decodeShortFrame = (frame: string, base: SocketBase): ShortFrame | undefined => {
  const [start] = livePattern.exec(frame) ?? [];
  if (start === undefined) {
    const change = decodeReactions(frame, base);
    return change && { type: "reactions", ...change };
  }
  const numbers = start
    .replace("~", "")
    .split(",", 5)
    .map((number) => Number.parseInt(number, 36)) as never;
  const text = frame.slice(start.length);
  return start.startsWith("~")
    ? { type: "liveEdit", ...liveEdit.decode(numbers, base), text }
    : { type: "liveText", ...liveText.decode(numbers, base), text };
};
