import { beforeAll, test } from "vitest";
import { messagePageRows } from "#contract/limits/conversations.ts";
import { receiptHoldMs } from "#contract/limits/delivery.ts";
import type { SearchFilter } from "#contract/wire/search-filter.ts";
import { connectPeople } from "#tests/support/people/people.ts";
import { makePerson, site } from "#tests/worker/support/site.ts";
import { consumeCounts, startCounting } from "./counters.ts";
import { middleText, oldestText } from "./log-seed.ts";
import { report } from "./report.ts";
import { evictPair, pause, SceneDevice, seedLog, toConversationId } from "./scene.ts";

const settleMs = 100;
const sentMs = receiptHoldMs + 3_500; // longer than write-behind and alarms take
const newest = "Sango ya sika";

beforeAll(startCounting);

/** Rows and calls for opening, paging, jumping and searching in a chat of this length. */
const countChat = async (count: number): Promise<void> => {
  const [a, b] = [await makePerson(), await makePerson()];
  await connectPeople(site, a, b);
  const chat = toConversationId(a, b);
  await seedLog(chat, count);
  await evictPair(a, b);
  const device = await SceneDevice.connect(a);
  await device.send(chat, newest);
  await pause(sentMs);
  const head = count + 1;
  const handle = device.rows.get(chat)?.handle ?? chat;
  const pages = async (...requests: ["a" | "b", number][]): Promise<number> => {
    for (const [direction, seq] of requests) await device.ask(["g", 1, handle, direction, seq, messagePageRows]);
    return requests.length;
  };
  const search = async (query: string, ...filter: [] | [SearchFilter]): Promise<number> => {
    let before = head + 1;
    for (let calls = 1; ; calls++) {
      const answer = await device.ask(["q", 1, handle, query, before, ...filter]);
      if (answer.type !== "search" || answer.before === null) return calls;
      before = answer.before;
    }
  };
  const measure = async (name: string, action: () => Promise<number>): Promise<void> => {
    await pause(settleMs);
    consumeCounts();
    const calls = await action();
    await pause(settleMs);
    report(`${name}, ${count} messages`, calls, consumeCounts());
  };
  const middle = Math.floor(count / 2);
  await measure("open: the newest page", () => pages(["b", head + 1]));
  await measure("one page up", () => pages(["b", head - messagePageRows]));
  await measure("jump to the middle", () => pages(["b", middle + 1], ["a", middle]));
  await measure("first search: nowhere, until the index is built", () => search("zzz"));
  await measure("search: the newest message", () => search(newest));
  await measure("search: the one in the middle", () => search(middleText));
  await measure("search: the oldest", () => search(oldestText));
  await measure("search: nowhere", () => search("zzz"));
  await measure("gallery: voice messages, without any", () => search("", { kind: "voice" }));
  await measure("gallery: links, without any", () => search("", { kind: "link" }));
  device.close();
};

test("a chat of 200 messages reads", () => countChat(200));
test("a chat of 200,000 messages reads", () => countChat(200_000));
