import { createUuid, packUuid, privateConversationId } from "#contract/ids.ts";
import { messagePageRows } from "#contract/limits/conversations.ts";
import { messageTextMaxLength, multicastMax } from "#contract/limits/messages.ts";
import { joinedFramesMax } from "#contract/limits/sockets.ts";
import type { WireClientFrame } from "#contract/wire/client-frames.ts";
import type { AttackNeeds, Stage } from "./stage.ts";

/** Flood of frames over the attacker's sockets. */
export type FrameAttack = AttackNeeds & {
  name: string;
  /** Creates frame number `n`, or invalid text. */
  make: (stage: Stage, n: number) => WireClientFrame | string;
  /** Frame sent once before the attack. */
  prepare?: (stage: Stage) => WireClientFrame;
  /** Stops after this number of frames, for bursts. */
  count?: number;
  /** Frames per WebSocket message; by default the protocol's maximum. */
  framesPerMessage?: number;
};

const lastSeq = Number.MAX_SAFE_INTEGER;
const longLog = 20_000;
const noMatchQuery = "zzqx";
/** Characters of three bytes each: the longest text in bytes. */
const heavyText = "字".repeat(messageTextMaxLength);
const signal = JSON.stringify({ candidate: "x".repeat(1_500) });
const openCall = createUuid();

const unknownPrivate = ({ attacker }: Stage) => privateConversationId(attacker.id, createUuid());

export const frameAttacks: FrameAttack[] = [
  { name: "receipts that change nothing", make: ({ own }) => ["r", own, 0, 0] },
  {
    name: "receipts in a group with 20,000 unread",
    isShared: true,
    messages: longLog,
    make: ({ shared }) => ["r", shared, 0, 0],
  },
  { name: "receipts of unknown private chats", make: (stage) => ["r", unknownPrivate(stage), 0, 0] },
  { name: "receipts of unknown groups", make: () => ["r", createUuid(), 0, 0] },
  { name: "mutes on and off", make: ({ own }, n) => ["z", n, own, n % 2 === 0 ? 1 : 0] },
  { name: "searches without hits", messages: longLog, make: ({ own }, n) => ["q", n, own, noMatchQuery, lastSeq] },
  {
    name: "searches without hits, shared",
    messages: longLog,
    isShared: true,
    make: ({ shared }, n) => ["q", n, shared, noMatchQuery, lastSeq],
  },
  {
    name: "pages",
    messages: longLog,
    make: ({ own }, n) => ["g", n, own, "b", 1 + ((n * 7_919) % longLog), messagePageRows],
  },
  {
    name: "pages, shared",
    messages: longLog,
    isShared: true,
    make: ({ shared }, n) => ["g", n, shared, "b", 1 + ((n * 7_919) % longLog), messagePageRows],
  },
  { name: "pages of unknown groups", make: (_stage, n) => ["g", n, createUuid(), "b", lastSeq, messagePageRows] },
  { name: "pages of unknown private chats", make: (stage, n) => ["g", n, unknownPrivate(stage), "b", lastSeq, 40] },
  { name: "inbox changes", make: (_stage, n) => ["c", n, 0, null] },
  { name: "revisions", make: ({ own }, n) => ["v", n, own, 0] },
  { name: "history clearings", messages: longLog, make: ({ own }, n) => ["d", n, own, n % longLog, 1] },
  {
    name: "deletions of others' messages",
    messages: longLog,
    make: ({ own }, n) => ["e", n, own, 1 + (n % longLog)],
  },
  { name: "pending deletions", make: ({ own }, n) => ["e", n, own, packUuid(createUuid())] },
  { name: "presence questions", make: ({ own }, n) => ["L", n, own] },
  { name: "visibility on and off", make: (_stage, n) => ["l", n % 2 === 0 ? 1 : 0] },
  { name: "typing", make: ({ own }) => ["t", own] },
  { name: "typing, shared", isShared: true, make: ({ shared }) => ["t", shared] },
  { name: "credits", make: () => ["k", 0] },
  {
    name: "signals in a ringing call",
    prepare: ({ own, attacker }) => ["j", 0, own, { type: "dial", call: openCall, kind: "audio", device: attacker.id }],
    make: ({ own, attacker }, n) => [
      "j",
      n,
      own,
      { type: "signal", call: openCall, from: attacker.id, to: null, signal },
    ],
  },
  {
    name: "signals in unknown calls",
    make: ({ own, attacker }, n) => [
      "j",
      n,
      own,
      { type: "signal", call: createUuid(), from: attacker.id, to: null, signal },
    ],
  },
  {
    name: "dials",
    make: ({ own, attacker }, n) => [
      "j",
      n,
      own,
      { type: "dial", call: createUuid(), kind: "audio", device: attacker.id },
    ],
  },
  { name: "state of unknown calls", make: ({ own }, n) => ["j", n, own, { type: "standing", call: createUuid() }] },
  { name: "malformed frames", make: () => '["r",{"deep":[[[[[[[[[["x"]]]]]]]]]]}]', framesPerMessage: 1 },
  {
    name: "malformed frames of 60 kB",
    make: () => `[${"[".repeat(30_000)}${"]".repeat(30_000)}]`,
    framesPerMessage: 1,
  },
  { name: "repeated hellos", make: () => ["h", 8, "", 0], framesPerMessage: 1 },
  {
    name: "2,000 texts at once",
    count: 2_000,
    make: ({ own }, n) => ["s", n, own, packUuid(createUuid()), `Mbote ${n}`],
  },
  { name: "texts", make: ({ own }, n) => ["s", n, own, packUuid(createUuid()), `Mbote ${n}`] },
  {
    name: "texts, shared",
    isShared: true,
    make: ({ shared }, n) => ["s", n, shared, packUuid(createUuid()), `Mbote ${n}`],
  },
  {
    name: "texts of 24 kB",
    framesPerMessage: 2,
    make: ({ own }, n) => ["s", n, own, packUuid(createUuid()), heavyText],
  },
  {
    name: "texts of 24 kB, shared",
    framesPerMessage: 2,
    isShared: true,
    make: ({ shared }, n) => ["s", n, shared, packUuid(createUuid()), heavyText],
  },
  {
    name: "one text to 50 unknown chats",
    framesPerMessage: 4,
    make: (stage, n) => [
      "f",
      n * multicastMax,
      "Mbote",
      null,
      Array.from({ length: multicastMax }, () => [unknownPrivate(stage), packUuid(createUuid())]),
    ],
  },
];

export const getFramesPerMessage = ({ framesPerMessage = joinedFramesMax }: FrameAttack): number => framesPerMessage;
