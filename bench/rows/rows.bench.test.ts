import { env } from "cloudflare:workers";
import { beforeAll, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { gapPageRows, messagePageRows } from "#contract/limits/conversations.ts";
import { receiptHoldMs } from "#contract/limits/delivery.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";
import type { ConversationRpc } from "#worker/objects/rpc/conversation-rpc.ts";
import { getConversationStub, getUserChannelStub } from "#worker/objects/stubs.ts";
import { consumeCounts, startCounting } from "./counters.ts";
import { report } from "./report.ts";
import { evictPair, pause, SceneDevice, seedInbox, seedLog, toConversationId } from "./scene.ts";

/** Longer than write-behind and alarms take. */
const settleMs = receiptHoldMs + 3_500;
const seededMessages = 200_000;
const seededConversations = 1_000;

/** Counts the cost of an action and its consequences. */
async function measure(name: string, per: number, action: () => Promise<unknown>, settles = false): Promise<void> {
  consumeCounts();
  await action();
  await pause(settles ? settleMs : 50);
  report(name, per, consumeCounts());
}

async function makePair(): Promise<[Person, Person]> {
  const [a, b] = [await makePerson(), await makePerson()];
  await connectPeople(site, a, b);
  return [a, b];
}

beforeAll(startCounting);

test("a message costs", async () => {
  const [a, b] = await makePair();
  const chat = toConversationId(a, b);
  const from = await SceneDevice.connect(a);
  const to = await SceneDevice.connect(b);
  from.receipts = "read";
  to.receipts = "read";
  await from.send(chat, "Mbote");
  await pause(settleMs);

  await measure(
    "live exchange, both read at once, a message every 500 ms",
    20,
    async () => {
      for (let i = 0; i < 20; i++) {
        await (i % 2 === 0 ? from : to).send(chat, `Message ${i}`);
        await pause(500);
      }
    },
    true,
  );
  await measure(
    "one person writes 20, a message every 500 ms, read at once",
    20,
    async () => {
      for (let i = 0; i < 20; i++) {
        await from.send(chat, `Message ${i}`);
        await pause(500);
      }
    },
    true,
  );
  await measure("lone message, read at once", 1, () => from.send(chat, "Tout seul"), true);
  to.receipts = "delivered";
  await measure(
    "lone message, delivered, read 2 s later",
    1,
    async () => {
      await from.send(chat, "Tout seul");
      await pause(2_000);
      to.write(["r", to.rows.get(chat)?.handle ?? chat, to.lastSeq, to.lastSeq]);
    },
    true,
  );
  to.receipts = "read";
  await measure(
    "16 messages at once, read at once",
    16,
    async () => {
      await Promise.all(Array.from({ length: 16 }, (_, i) => from.send(chat, `Rafale ${i}`)));
    },
    true,
  );
  to.close();
  await pause(200);
  await measure("message to somebody who is away", 1, () => from.send(chat, "Où es-tu ?"), true);
  await measure(
    "the same person comes back and reads it",
    1,
    async () => {
      const back = await SceneDevice.connect(b, [to.epoch, to.counter]);
      const row = back.rows.get(chat);
      if (!row) throw new Error("The row did not come back");
      await back.ask(["g", 1, row.handle, "a", row.read, gapPageRows]);
      back.write(["r", row.handle, row.head, row.head]);
    },
    true,
  );
  from.close();
});

test("flags of a conversation cost", async () => {
  const [a, b] = await makePair();
  const chat = toConversationId(a, b);
  const device = await SceneDevice.connect(a);
  const other = await SceneDevice.connect(b);
  await other.send(chat, "Mbote");
  await pause(settleMs);
  await measure("marking as unread", 1, () => device.ask(["y", 1, chat, { marked: true }]), true);
  await measure("pinning", 1, () => device.ask(["y", 2, chat, { pinned: true }]), true);
  await measure("message to a pinned conversation that is marked as unread", 1, () => other.send(chat, "Encore"), true);
  await measure("archiving", 1, () => device.ask(["y", 3, chat, { archived: true }]), true);
  await measure("message that ends an archiving", 1, () => other.send(chat, "Encore"), true);
  device.close();
  other.close();
});

test("flags of messages cost", async () => {
  const [a, b] = await makePair();
  const chat = toConversationId(a, b);
  const device = await SceneDevice.connect(a);
  const other = await SceneDevice.connect(b);
  await other.send(chat, "Mbote");
  await pause(settleMs);
  await measure("starring a message", 1, () => device.ask(["Y", 1, chat, 1, { starred: true }]), true);
  await measure("message to a chat with a star", 1, () => other.send(chat, "Encore"), true);
  await measure("removing a star", 1, () => device.ask(["Y", 2, chat, 1, { starred: false }]), true);
  await measure("deleting a message for oneself", 1, () => device.ask(["Y", 3, chat, 1, { deleted: true }]), true);
  device.close();
  other.close();
});

test("deletions and leaving in a group of 10 cost", async () => {
  const people: Person[] = [];
  while (people.length < 10) people.push(await makePerson());
  const [owner, author, ...others] = people;
  if (!owner || !author) return;
  const group = createUuid();
  const conversation: ConversationRpc = getConversationStub(env, group);
  const members = [author, ...others].map(({ id: user }) => ({ user, isHidden: false }));
  await conversation.createGroup(owner.id, "Quartier", members);
  const [ownerDevice, authorDevice] = [await SceneDevice.connect(owner), await SceneDevice.connect(author)];
  for (const text of ["à supprimer par Ana", "à supprimer par Ben", "à supprimer plus tard"])
    await authorDevice.send(group, text);
  await pause(settleMs);
  const deleteMessage = (device: SceneDevice, seq: number) => () => device.ask(["e", seq, group, seq]);
  await measure("10 members, the author deletes a message", 1, deleteMessage(authorDevice, 3), true);
  await measure("10 members, the owner deletes a member's message", 1, deleteMessage(ownerDevice, 2), true);
  const leave = ({ id: user }: Person) => conversation.runGroupCommand(user, { type: "leave" });
  const [former] = others;
  if (!former) return;
  await measure("10 members, one leaves", 1, () => leave(former), true);
  await measure("9 members and a former one, the author deletes a message", 1, deleteMessage(authorDevice, 4), true);
  const forget = { type: "clearHistory", conversation: group, upTo: 4, keep: false } as const;
  await measure(
    "the former member deletes the conversation",
    1,
    () => getUserChannelStub(env, former.id).execute(forget),
    true,
  );
  ownerDevice.close();
  authorDevice.close();
});

test("drafts cost", async () => {
  const [a, b] = await makePair();
  const chat = toConversationId(a, b);
  const device = await SceneDevice.connect(a);
  await measure("sharing a draft", 1, () => device.ask(["D", 1, chat, 0, 0, "Mbote"]), true);
  await measure("continuing it", 1, () => device.ask(["D", 2, chat, 0, 0, "Mbote na yo"]), true);
  await measure("ending it", 1, () => device.ask(["D", 3, chat, 0, 0, ""]), true);
  await measure("message to a chat that had a draft", 1, () => device.send(chat, "Mbote"), true);
  device.close();
});

test("pinned messages cost", async () => {
  const [a, b] = await makePair();
  const chat = toConversationId(a, b);
  const device = await SceneDevice.connect(a);
  const other = await SceneDevice.connect(b);
  await other.send(chat, "Mbote");
  await other.send(chat, "Encore");
  await pause(settleMs);
  await measure("pinning a message, with its system message", 1, () => device.ask(["P", 1, chat, 1, 1]), true);
  await measure("message to a chat with a pinned message", 1, () => other.send(chat, "Encore"), true);
  await measure("unpinning a message", 1, () => device.ask(["P", 2, chat, 1, 0]), true);
  await device.ask(["P", 3, chat, 2, 1]);
  await pause(settleMs);
  await measure("deleting a pinned message", 1, () => other.ask(["e", 1, chat, 2]), true);
  device.close();
  other.close();
});

test("with 1,000 conversations an opening costs", async () => {
  const [a, b] = await makePair();
  const chat = toConversationId(a, b);
  await seedInbox(a.id, seededConversations);
  const other = await SceneDevice.connect(b);
  await other.send(chat, "Mbote");
  await pause(settleMs);
  await evictPair(a, b);

  let cursor: [string, number] = ["", 0];
  await measure("list: a new device's welcome, object asleep", 1, async () => {
    const device = await SceneDevice.connect(a);
    cursor = [device.epoch, device.counter];
    device.close();
  });
  await measure("list: a new device's welcome, object awake", 1, async () => (await SceneDevice.connect(a)).close());
  await measure("list: welcome with nothing new, object awake", 1, async () =>
    (await SceneDevice.connect(a, cursor)).close(),
  );
  await evictPair(a, b);
  await measure("list: welcome with nothing new, object asleep", 1, async () =>
    (await SceneDevice.connect(a, cursor)).close(),
  );
  await measure("list: first page over HTTP", 1, () => call("GET", "/api/conversations", { token: a.token }));
  const device = await SceneDevice.connect(a);
  device.receipts = "read";
  await other.send(chat, "Mbote");
  await pause(settleMs);
  await measure("lone message into such an inbox, read at once", 1, () => other.send(chat, "Encore"), true);
  await evictPair(a, b);
  await measure("the same with all objects asleep", 1, () => other.send(chat, "Encore"), true);
  device.close();
  other.close();
});

test("in a chat of 200,000 messages an opening costs", async () => {
  const [a, b] = await makePair();
  const chat = toConversationId(a, b);
  await seedLog(chat, seededMessages);
  await evictPair(a, b);
  const from = await SceneDevice.connect(a);
  const to = await SceneDevice.connect(b);
  await from.send(chat, "Mbote");
  to.receipts = "read";
  await from.send(chat, "Mbote");
  await pause(settleMs);
  const head = seededMessages + 2;
  const handle = from.rows.get(chat)?.handle ?? chat;
  const page = (name: string, direction: "a" | "b", seq: number, limit: number) =>
    measure(name, 1, () => from.ask(["g", 1, handle, direction, seq, limit]));

  await page("chat: newest page", "b", head + 1, messagePageRows);
  await page("chat: a page in the middle", "b", seededMessages / 2, messagePageRows);
  await page("chat: a gap of 200 filled", "a", head - 200, gapPageRows);
  await evictPair(a, b);
  await page("chat: newest page, objects asleep", "b", head + 1, messagePageRows);
  await measure("chat: newest page over HTTP", 1, () =>
    call("GET", `/api/conversations/${chat}/messages?before=${head + 1}&limit=${messagePageRows}`, { token: a.token }),
  );
  await measure("chat: lone message, read at once", 1, () => from.send(chat, "Encore"), true);
  const searchAll = async () => {
    for (let before: number | null = head + 10; before !== null; ) {
      const answer = await from.ask(["q", 1, handle, "zzz", before]);
      before = answer.type === "search" ? answer.before : null;
    }
  };
  await measure("search: the first one, until the whole index is built", 1, searchAll);
  await measure("search: a word of the newest message", 1, () => from.ask(["q", 1, handle, "Encore", head + 10]));
  await measure("search: a word that is nowhere, one call", 1, () => from.ask(["q", 1, handle, "zzz", head + 10]));
  from.close();
  to.close();
});
