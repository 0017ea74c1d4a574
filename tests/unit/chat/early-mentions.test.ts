import { IDBFactory } from "fake-indexeddb";
import { afterEach, expect, test, vi } from "vitest";
import { createEarlySender } from "#first-view/script/early-sender.ts";

const user = "0190a000-0000-7000-8000-000000000001";
const group = "0190a000-0000-7000-8000-000000000003";
const privateChat = `${user}.0190a000-0000-7000-8000-000000000002`;

afterEach(() => vi.unstubAllGlobals());

/** Texts that the inline script posts when these are sent in a first view of this conversation. */
const listPosted = async (conversation: string, ...texts: string[]): Promise<string[]> => {
  const posted: string[] = [];
  const entries = new Map<string, string>([
    ["session", JSON.stringify({ userId: user, expiresAt: Date.now() + 3_600_000 })],
  ]);
  const storage = {
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, value: string) => void entries.set(key, value),
  };
  const localStorage = new Proxy(storage, {
    get: (target, key) => Reflect.get(target, key) ?? entries.get(String(key)),
    ownKeys: () => [...entries.keys()],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  });
  vi.stubGlobal("localStorage", localStorage);
  vi.stubGlobal("indexedDB", new IDBFactory());
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("fetch", async (_path: string, { body }: { body: string }) => {
    const [message] = JSON.parse(body).messages;
    posted.push(message.body.text);
    return Response.json({ epoch: "e", sent: [{ cid: message.cid, seq: posted.length, at: 1 }] });
  });
  const sender = createEarlySender({
    view: Object.assign(new EventTarget(), { isConnected: true }) as HTMLElement,
    user,
    conversation,
    store: "lisolo-test",
    onStored: () => undefined,
  });
  for (const [index, text] of texts.entries()) {
    const [cid, n] = [`cid-${index}`, index + 1];
    entries.set(`lisolo-test-sent-${cid}`, JSON.stringify({ conversation, text, at: 1, n }));
    sender.add({ cid, text, n });
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  return posted;
};

test("the first view sends texts of a group up to one that may mention somebody, which is left to the app", async () => {
  expect(await listPosted(group, "un", "@Ana deux", "trois")).toEqual(["un"]);
});

test("the first view sends all texts of a private chat", async () => {
  expect(await listPosted(privateChat, "un", "@Ana deux", "trois")).toEqual(["un", "@Ana deux", "trois"]);
});
