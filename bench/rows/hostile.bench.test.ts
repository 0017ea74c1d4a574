import { env } from "cloudflare:workers";
import { beforeAll, test } from "vitest";
import { type FrameAttack, frameAttacks, getFramesPerMessage } from "#bench/attacks/frame-attacks.ts";
import { type AttackRequest, type HttpAttack, httpAttacks } from "#bench/attacks/http-attacks.ts";
import type { Stage } from "#bench/attacks/stage.ts";
import { createUuid } from "#contract/ids.ts";
import { decodeServerFrame, joinFrames, protocolVersion } from "#contract/wire/server-frames.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { writeWireFrame } from "#tests/support/wire-frames.ts";
import { makePerson, site } from "#tests/worker/support/site.ts";
import type { ConversationRpc } from "#worker/objects/rpc/conversation-rpc.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";
import { consumeCounts, plainChannel, plainConversation, startCounting } from "./counters.ts";
import { reportWrites } from "./report.ts";
import { pause, toConversationId as privateOf } from "./scene.ts";
import { readStoredBytes, startCountingBytes } from "./stored-bytes.ts";

/** Attacks that cause writes. */
const writingAttacks = [
  "mutes on and off",
  "history clearings",
  "pending deletions",
  "dials",
  "texts",
  "texts, shared",
  "texts of 24 kB",
  "one text to 50 unknown chats",
  "challenges",
  "wrong passwords",
  "passkey ceremonies",
  "upload announcements",
  "uploads of 25 MB",
  "deletions of unknown statuses",
  "mutes over HTTP",
  "messages over HTTP, 50 at a time",
  "requests to unknown people",
  "new names",
  "groups",
];
const groupMembers = 100;
const burstMs = 5_000;
const steadyMs = 10_000;
const settleMs = 4_000; // for write-behind and alarms
const unansweredMax = 256;
const requestsAtOnce = 16;

/** Number of client frames that a server frame answers. */
const countAnswers = (data: string): number => {
  const frame = decodeServerFrame(data);
  if (!frame || "event" in frame) return 0;
  if (frame.type === "acknowledgement" || frame.type === "messages") return frame.acks?.length ?? 0;
  return "ref" in frame || frame.type === "error" ? 1 : 0;
};

/** Continues the attack for `ms` and returns how much was sent. */
type ContinueAttack = (ms: number) => Promise<number>;

async function createFrameAttack(attack: FrameAttack, stage: Stage): Promise<ContinueAttack> {
  const { webSocket } = await site.fetch(`${site.origin}/api/socket`, {
    headers: { upgrade: "websocket", origin: site.origin, authorization: `Bearer ${stage.attacker.token}` },
  });
  if (!webSocket) throw new Error("no socket");
  let [sent, answered, isClosed] = [0, 0, false];
  webSocket.accept();
  webSocket.addEventListener("message", ({ data }) => {
    answered += countAnswers(String(data));
  });
  webSocket.addEventListener("close", () => {
    isClosed = true;
  });
  webSocket.send(writeWireFrame(["h", protocolVersion, "", 0]));
  return async (ms) => {
    const [before, until] = [sent, Date.now() + ms];
    while (Date.now() < until && !isClosed) {
      const frames = Array.from({ length: getFramesPerMessage(attack) }, () => attack.make(stage, ++sent));
      for (const text of joinFrames(frames.map((one) => (typeof one === "string" ? one : writeWireFrame(one))))) {
        webSocket.send(text);
      }
      do await pause(1);
      while (sent - answered > unansweredMax && Date.now() < until && !isClosed);
    }
    await pause(Math.max(0, until - Date.now()));
    return sent - before;
  };
}

async function sendAttackRequest(
  { attacker, address }: Stage,
  { method, path, headers, isAnonymous, body, bytes }: AttackRequest,
) {
  const response = await site.fetch(site.origin + path, {
    method,
    headers: {
      "cf-connecting-ip": address,
      ...(isAnonymous ? {} : { authorization: `Bearer ${attacker.token}` }),
      "content-type": bytes ? "application/octet-stream" : "application/json",
      ...headers,
    },
    ...(bytes ? { body: bytes } : body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
}

async function createRequestAttack(attack: HttpAttack, stage: Stage): Promise<ContinueAttack> {
  let sent = 0;
  if (attack.prepare) await sendAttackRequest(stage, attack.prepare(stage));
  // Once alone: a lazy import of a route belongs to the first request, and others must not wait for it.
  await sendAttackRequest(stage, attack.make(stage, ++sent));
  return async (ms) => {
    const [before, until] = [sent, Date.now() + ms];
    const sendRepeatedly = async () => {
      while (Date.now() < until) await sendAttackRequest(stage, attack.make(stage, ++sent));
    };
    await Promise.all(Array.from({ length: requestsAtOnce }, sendRepeatedly));
    return sent - before;
  };
}

async function makeGroup(people: readonly Person[]): Promise<string> {
  const id = createUuid();
  const group: ConversationRpc = getConversationStub(env, id);
  const [owner, ...others] = people.map((person) => person.id);
  await group.createGroup(
    owner ?? "",
    "Quartier",
    others.map((user) => ({ user, isHidden: false })),
  );
  return id;
}

async function makeStage(attack: string, isShared: boolean): Promise<Stage> {
  const [attacker, accomplice] = [await makePerson(), await makePerson()];
  await connectPeople(site, attacker, accomplice);
  const own = privateOf(attacker, accomplice);
  const members = [attacker, accomplice];
  while (isShared && members.length < groupMembers) members.push(await makePerson());
  const shared = isShared ? await makeGroup(members) : own;
  const address = `10.3.0.${writingAttacks.indexOf(attack) + 1}`;
  return {
    attack,
    origin: site.origin,
    address,
    attacker,
    accomplice: accomplice.id,
    own,
    shared,
    claimedPhones: [],
    seconds: 0,
  };
}

beforeAll(async () => {
  await startCounting();
  startCountingBytes();
});

for (const name of writingAttacks) {
  test(`one account writes by: ${name}`, async () => {
    const frames = frameAttacks.find((one) => one.name === name);
    const requests = httpAttacks.find((one) => one.name === name);
    const stage = await makeStage(name, (frames ?? requests)?.isShared ?? false);
    const objects = [plainConversation(stage.own), plainChannel(stage.attacker.id), plainChannel(stage.accomplice)];
    if (stage.shared !== stage.own) objects.push(plainConversation(stage.shared));
    const run = frames
      ? await createFrameAttack(frames, stage)
      : requests && (await createRequestAttack(requests, stage));
    if (!run) throw new Error(`There is no attack ${name}`);
    await pause(1_000);
    let before = await readStoredBytes(objects);
    consumeCounts();
    for (const [phase, ms] of [["burst", burstMs] as const, ["steady", steadyMs] as const]) {
      const sent = await run(ms);
      if (phase === "steady") await pause(settleMs);
      const counts = consumeCounts();
      const now = await readStoredBytes(objects);
      const bytes = { d1: now.d1 - before.d1, objects: now.objects - before.objects, r2: now.r2 - before.r2 };
      reportWrites({ attack: name, phase, ms, sent, counts, bytes, r2Puts: now.r2Puts - before.r2Puts });
      before = now;
    }
  });
}
