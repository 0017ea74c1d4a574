import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { isMutedExceptMentionsAt } from "#contract/conversations.ts";
import { createUuid } from "#contract/ids.ts";
import { mentionsListedMax } from "#contract/limits/conversations.ts";
import { mentionsMax } from "#contract/limits/groups.ts";
import { previewMaxLength } from "#contract/limits/messages.ts";
import { Body, type StoredBody } from "#contract/messages/body.ts";
import { toMessageKind } from "#contract/messages/kinds.ts";
import { deriveMentions, isMentionOf, type Mention } from "#contract/messages/mentions.ts";
import type { Message } from "#contract/messages/message.ts";
import { encodeAppFrame } from "#contract/wire/app-frames.ts";
import { decodeClientFrames, toCommand } from "#contract/wire/client-frames.ts";
import { CommandSchema } from "#contract/wire/command-schemas.ts";
import { storedBody } from "#contract/wire/compact-encoding.ts";
import { toHttpRequest } from "#contract/wire/http-commands.ts";
import { toPreview } from "#contract/wire/preview.ts";
import { originBase } from "#contract/wire/server-frames.ts";

const group = "0190a000-0000-7000-8000-000000000003";
const text = "@Ana et @Ben, venez";
const ana: Mention = [0, 4, 1];
const ben: Mention = [8, 4, 2];
const toBody = (mentions: readonly unknown[]) => ({ type: "text" as const, text, mentions: mentions as Mention[] });

const isAccepted = (mentions: readonly unknown[], source?: { conversation: string; seq: number }) => {
  const message = { cid: createUuid(), body: toBody(mentions), ...(source ? { source } : {}) };
  return v.is(CommandSchema, { type: "send", conversation: group, messages: [message] });
};

describe("mentions in a sent text", () => {
  test("stand in order, apart and inside the text", () => {
    expect(isAccepted([ana, ben])).toBe(true);
    expect(isAccepted([[0, 4]])).toBe(true); // everyone
    expect(isAccepted([[15, 4, 1]])).toBe(true); // up to the end
  });

  test.each([
    ["out of order", [ben, ana]],
    ["overlapping", [ana, [3, 4, 2]]],
    ["beyond the text", [[16, 4, 1]]],
    ["without length", [[0, 0, 1]]],
    ["before the text", [[-1, 4, 1]]],
    ["with a fraction", [[0.5, 4, 1]]],
    ["of a negative member", [[0, 4, -1]]],
    ["with more fields", [[0, 4, 1, 1]]],
    ["in an empty list", []],
    ["too many", Array.from({ length: mentionsMax + 1 }, (_, index) => [index, 1, 1])],
  ])("%s are refused", (_, mentions) => {
    expect(isAccepted(mentions)).toBe(false);
  });

  test("are refused in a forward and in a message to many conversations", () => {
    expect(isAccepted([ana], { conversation: group, seq: 1 })).toBe(false);
    const to = [{ conversation: group, cid: createUuid() }];
    expect(v.is(CommandSchema, { type: "multicast", body: { type: "text", text }, to })).toBe(true);
    expect(v.is(CommandSchema, { type: "multicast", body: toBody([ana]), to })).toBe(false);
  });

  test("are refused without a text", () => {
    const body = { type: "file", file: createUuid(), name: "a.pdf", mime: "application/pdf", size: 1 };
    const command = (one: object) => ({
      type: "send",
      conversation: group,
      messages: [{ cid: createUuid(), body: one }],
    });
    expect(v.is(CommandSchema, command(body))).toBe(true);
    expect(v.is(CommandSchema, command({ ...body, mentions: [ana] }))).toBe(false);
    expect(v.is(CommandSchema, command({ ...body, text, mentions: [ana] }))).toBe(true);
  });
});

test("a text with mentions keeps them on the wire, and one without costs nothing", () => {
  expect(storedBody.encode({ type: "text", text }, originBase)).toBe(text);
  const body = toBody([ana]);
  expect(storedBody.decode(storedBody.encode(body, originBase), originBase)).toEqual(body);
  const toSend = (one: Body) => ({ type: "send", ref: 1, conversation: group, cid: createUuid(), body: one }) as const;
  const [sent, plain] = [toSend(body), toSend({ type: "text", text })];
  expect(decodeClientFrames(encodeAppFrame(sent))).toEqual([sent]);
  expect(encodeAppFrame(sent).length - encodeAppFrame(plain).length).toBeLessThanOrEqual(48);
  expect(toMessageKind(body)).toBe("mention");
});

test("a cut preview has no mentions, which would stand outside its text; a complete one keeps them", () => {
  expect(toPreview(toBody([ana]))).toEqual({ preview: toBody([ana]), whole: true });
  const long = { ...toBody([[previewMaxLength + 10, 4, 1]]), text: "x".repeat(2 * previewMaxLength) };
  const { preview, whole } = toPreview(long);
  expect(whole).toBe(false);
  expect(preview).not.toHaveProperty("mentions");
  expect(v.is(Body, preview)).toBe(true);
});

test("a body mentions the named members, or everyone", () => {
  expect([1, 2, 3].map((member) => isMentionOf(toBody([ana, ben]), member))).toEqual([true, true, false]);
  expect([1, 3].map((member) => isMentionOf(toBody([[0, 4]]), member))).toEqual([true, true]);
  expect(isMentionOf(toBody([ana]), undefined)).toBe(false);
  expect(isMentionOf({ type: "deleted" }, 1)).toBe(false);
});

describe("unread mentions of a member", () => {
  const row = { group: { number: 1 }, read: 2, hidden: 0 };
  const message = (seq: number, body: StoredBody, sender = 0): Message => ({ seq, sender, at: seq, body });
  const mention = (seq: number, sender = 0) => message(seq, toBody([ana]), sender);

  test("are those of others after the read and cleared position, each once", () => {
    expect(deriveMentions([], row, [mention(2), mention(3), mention(4, 1), mention(5)])).toEqual([3, 5]);
    expect(deriveMentions([3, 5], row, [mention(5), mention(4)])).toEqual([3, 4, 5]);
    expect(deriveMentions([3, 5], { ...row, hidden: 3 })).toEqual([5]);
    expect(deriveMentions([3, 5], { ...row, read: 5 })).toEqual([]);
  });

  test("end with the deletion of their message", () => {
    expect(deriveMentions([3, 5], row, [message(3, { type: "deleted" })])).toEqual([5]);
  });

  test("of other members are not counted", () => {
    const others = [message(4, toBody([ben])), message(5, { type: "text", text })];
    expect(deriveMentions([3], row, others)).toEqual([3]);
    expect(deriveMentions([], { ...row, group: null }, [mention(4)])).toEqual([]);
  });

  test("are at most the newest ones", () => {
    const many = Array.from({ length: mentionsListedMax + 5 }, (_, index) => mention(index + 10));
    const listed = deriveMentions([], row, many);
    expect(listed).toHaveLength(mentionsListedMax);
    expect(listed[0]).toBe(15);
  });
});

test("a mute except mentions ends with the mute", () => {
  const mute = { muted: true, mutedUntil: 100, mutedExceptMentions: true };
  expect([99, 100].map((at) => isMutedExceptMentionsAt(mute, at))).toEqual([true, false]);
  expect(isMutedExceptMentionsAt({ ...mute, mutedExceptMentions: false }, 99)).toBe(false);
});

test.each([
  [{ seconds: 60 }, "?seconds=60", "60"],
  [{ exceptMentions: true as const }, "?except=mentions", "null,1"],
  [{ seconds: 60, exceptMentions: true as const }, "?seconds=60&except=mentions", "60,1"],
])("a mute with %j is the same command by frame and by HTTP", (options, query, fields) => {
  const command = { type: "mute" as const, conversation: group, muted: true, ...options };
  const [decoded] = decodeClientFrames(`["z",1,"${group}",1,${fields}]`) ?? [];
  expect(decoded && toCommand(decoded, group)).toEqual(command);
  expect(v.is(CommandSchema, command)).toBe(true);
  expect(toHttpRequest(command).path).toBe(`/api/mutes/${group}${query}`);
});
