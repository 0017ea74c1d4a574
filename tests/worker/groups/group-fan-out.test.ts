import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { fanOutAtOnce } from "#contract/limits/delivery.ts";
import { groupTypingMax } from "#contract/limits/groups.ts";
import { Device, readRow, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, readMemberPage } from "#tests/worker/support/make-group.ts";
import type { ConversationNotice } from "#worker/objects/rpc/notices.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

type Method = (this: unknown, ...values: unknown[]) => unknown;
type Stub = Record<string, Method | undefined>;

/** Channel calls of a conversation from their start to their answer. */
class OutgoingCalls {
  readonly #conversation: ConversationId;
  readonly #underWay = new Set<{ name: string; user: Uuid }>();
  most = 0;
  /** Maximum of concurrent notices to one channel. */
  mostToOne = 0;
  readonly made = { notify: 0, deliverTyping: 0 };

  constructor(conversation: ConversationId) {
    this.#conversation = conversation;
    const namespace = Object.getPrototypeOf(env.USER_CHANNEL) as { getByName: Method };
    const { getByName } = namespace;
    const watch = (user: Uuid, stub: Stub) => this.#watch(user, stub);
    vi.spyOn(namespace, "getByName").mockImplementation(function (this: unknown, name) {
      return watch(String(name), getByName.call(this, name) as Stub);
    });
  }

  get isQuiet(): boolean {
    return this.#underWay.size === 0;
  }

  #watch(user: Uuid, stub: Stub): Stub {
    return new Proxy(stub, {
      get: (target, name) => {
        const method = Reflect.get(target, name, target) as Method | undefined;
        if (typeof method !== "function") return method;
        return (...values: unknown[]) => {
          const answer = Reflect.apply(method, target, values);
          return name === "notify" || name === "deliverTyping" ? this.#count(name, user, values, answer) : answer;
        };
      },
    });
  }

  async #count(name: "notify" | "deliverTyping", user: Uuid, values: unknown[], answer: unknown): Promise<unknown> {
    const [about] = values as [ConversationNotice | ConversationId];
    if ((typeof about === "string" ? about : about.conversation) !== this.#conversation) return answer;
    const call = { name, user };
    this.#underWay.add(call);
    this.made[name] += 1;
    const notices = [...this.#underWay].filter((one) => one.name === "notify" && one.user === user);
    this.most = Math.max(this.most, this.#underWay.size);
    this.mostToOne = Math.max(this.mostToOne, notices.length);
    try {
      return await answer;
    } finally {
      this.#underWay.delete(call);
    }
  }
}

test("a group notifies six channels at once, each with one request at a time, of typing and receipts too", async () => {
  const { id, owner, people } = await makeSyncedGroup(groupTypingMax);
  const devices = await Promise.all(people.map((one) => Device.open(one)));
  const calls = new OutgoingCalls(id);
  for (const device of devices) device.send(["t", id]);
  const refs = devices.map((device, i) => [1, 2, 3].map((n) => device.sendText(id, `${i} ${n}`)));
  for (const [i, device] of devices.entries()) {
    for (const ref of refs[i] ?? [])
      expect(await device.waitForOutcome(ref)).toMatchObject({ seq: expect.any(Number) });
  }
  const head = 1 + 3 * devices.length;
  for (const device of devices) device.send(["r", id, head, head]);
  await Promise.all(people.map((one) => waitUntil(async () => (await readRow(one, id)).othersRead === head)));
  await waitUntil(() => calls.isQuiet);
  expect(calls.most).toBe(fanOutAtOnce);
  expect(calls.mostToOne).toBe(1);
  expect(calls.made.deliverTyping).toBeGreaterThan(0);
  expect((await readMemberPage(owner, id)).count).toBe(groupTypingMax);
});

test("messages written during a fan-out reach each member in one notice", async () => {
  const { id, owner, others } = await makeSyncedGroup(60);
  const calls = new OutgoingCalls(id);
  const texts = Array.from({ length: 40 }, (_, n) => `message ${n}`);
  await Promise.all(texts.map((text) => sendTexts(owner, id, text)));
  await Promise.all(others.map((one) => waitUntil(async () => (await readRow(one, id)).unread === texts.length)));
  await waitUntil(() => calls.isQuiet);
  expect(calls.most).toBe(fanOutAtOnce);
  expect(calls.mostToOne).toBe(1);
  expect(calls.made.notify).toBeLessThan((texts.length * others.length) / 2);
});
