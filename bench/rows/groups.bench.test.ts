import { env } from "cloudflare:workers";
import { beforeAll, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { receiptHoldMs } from "#contract/limits/delivery.ts";
import { groupReceiptHoldMs } from "#contract/limits/groups.ts";
import type { Person } from "#tests/support/people/people.ts";
import { makePerson } from "#tests/worker/support/site.ts";
import type { ConversationRpc } from "#worker/objects/rpc/conversation-rpc.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";
import { consumeCounts, startCounting } from "./counters.ts";
import { report } from "./report.ts";
import { pause, SceneDevice } from "./scene.ts";

const settleMs = groupReceiptHoldMs + receiptHoldMs + 3_500; // longer than write-behind and alarms take
const burst = 16;

beforeAll(startCounting);

const makeGroup = async (people: readonly Person[]): Promise<string> => {
  const [owner, ...others] = people;
  if (!owner) throw new Error("A group needs at least one person");
  const id = createUuid();
  const group: ConversationRpc = getConversationStub(env, id);
  await group.createGroup(
    owner.id,
    "Quartier",
    others.map(({ id: user }) => ({ user, isHidden: false })),
  );
  return id;
};

/** Cost of messages to a group of this size: all others offline, all connected, and all reading at once. */
const countGroup = async (members: number): Promise<void> => {
  const people: Person[] = [];
  while (people.length < members) people.push(await makePerson());
  const [owner, ...others] = people;
  if (!owner) return;
  const group = await makeGroup(people);
  const author = await SceneDevice.connect(owner);
  const measure = async (name: string, count: number): Promise<void> => {
    await pause(settleMs);
    consumeCounts();
    await Promise.all(Array.from({ length: count }, (_, n) => author.send(group, `${name} ${n}`)));
    await pause(settleMs);
    report(`${members} members, ${name}`, count, consumeCounts());
  };
  await measure("the others away", 1);
  const devices: SceneDevice[] = [];
  for (const other of others) devices.push(await SceneDevice.connect(other));
  await measure("all listening", 1);
  await measure(`all listening, ${burst} messages at once`, burst);
  for (const device of devices) device.receipts = "read";
  await measure("all reading at once", 1);
  await measure(`all reading at once, ${burst} messages at once`, burst);
  for (const device of [author, ...devices]) device.close();
};

test("a message to 10 members costs", () => countGroup(10));
test("a message to 100 members costs", () => countGroup(100));
test("a message to 1,000 members costs", () => countGroup(1_000));
