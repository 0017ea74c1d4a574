import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import type { Message } from "#contract/messages/message.ts";
import { message as wireMessage } from "#contract/wire/compact-encoding.ts";
import {
  decodeReactions,
  encodeReactions,
  formatReactions,
  parseReactions,
  withOwnReaction,
} from "#contract/wire/reactions.ts";
import { decodeServerFrame, originBase } from "#contract/wire/server-frames.ts";

describe("the summary of a message's reactions", () => {
  test("carries every emoji and count, also of digits and sequences", () => {
    for (const emoji of ["👍", "1️⃣", "#️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👩🏻‍❤️‍💋‍👨🏼", "❤️"]) {
      for (const count of [1, 2, 1_024]) {
        for (const isOwn of [true, false]) {
          const counts = [
            { emoji, count, isOwn },
            { emoji: "😂", count: 7, isOwn: false },
          ];
          expect(parseReactions(formatReactions(counts))).toEqual(counts);
        }
      }
    }
    expect(parseReactions("")).toEqual([]);
    expect(parseReactions(undefined)).toEqual([]);
  });

  test("contains the reader's last reaction once, whatever it was before", () => {
    expect(withOwnReaction(undefined, "👍")).toBe("👍.");
    expect(withOwnReaction("👍2 ❤️.", "👍")).toBe("👍3.");
    expect(withOwnReaction("👍3. ❤️", "❤️")).toBe("👍2 ❤️2.");
    expect(withOwnReaction("👍3.", "👍")).toBe("👍3.");
    expect(withOwnReaction("👍3. ❤️", null)).toBe("👍2 ❤️");
    expect(withOwnReaction("👍.", null)).toBe("");
    expect(withOwnReaction("👍 ❤️ 😂", "😂")).toBe("😂2. 👍 ❤️");
  });
});

describe("the frame of changed reactions", () => {
  test("carries every field, and none of it is taken for a text", () => {
    const change = {
      counter: 40,
      target: 3,
      since: 94,
      revision: 99,
      changed: [
        { seq: 1, summary: "👍3. 1️⃣2" },
        { seq: 200_000, summary: "" },
      ],
    };
    expect(decodeServerFrame(encodeReactions(change, originBase))).toEqual({ type: "reactions", ...change });
    for (const frame of ["1;2;3", "1;2;3;4", "1,2,3;4;👍", "1;2;3-;4;👍", ""])
      expect(decodeReactions(frame, originBase)).toBeUndefined();
  });

  test("takes at most 12 bytes beyond the summary in a chat of a thousand messages", () => {
    const change = { counter: 300, target: 30, since: 1_199, revision: 1_200, changed: [{ seq: 1_200, summary: "" }] };
    const frame = encodeReactions(change, originBase);
    expect(frame.length).toBeLessThanOrEqual(12);
  });
});

test("a message keeps its reactions with every other field on the wire", () => {
  const now = 1_790_000_000_000;
  const socketBase = { counter: 0, now };
  const base: Message = { seq: 5, sender: 1, at: now + 5, body: { type: "text", text: "Mbote" } };
  const cid = createUuid();
  for (const fields of [{}, { cid }, { cid, held: true as const }]) {
    for (const reactions of [{}, { reactions: "👍3." }]) {
      const message = { ...base, ...fields, ...reactions };
      const wire = wireMessage.encode(message, socketBase);
      expect(v.is(wireMessage.schema, wire)).toBe(true);
      expect(wireMessage.decode(wire, socketBase)).toEqual(message);
    }
  }
});
