import { IDBFactory } from "fake-indexeddb";
import { afterEach, expect, test, vi } from "vitest";
import { type ConversationId, createUuid, privateConversationId } from "#contract/ids.ts";
import { EarlyDraft } from "#first-view/script/draft.ts";
import { EarlyOutbox } from "#first-view/script/outbox.ts";
import { EarlyUnsent } from "#first-view/script/unsent.ts";
import { selectMessages } from "#sw/select-messages.ts";
import { readUnsent } from "#sw/unsent-messages.ts";
import { eventually } from "#tests/support/eventually.ts";
import { ModelLocalStorage } from "#tests/support/model/model-local-storage.ts";

const user = createUuid();
const group: ConversationId = createUuid();
const privateChat = privateConversationId(user, createUuid());

afterEach(() => vi.unstubAllGlobals());

/** Texts that the service worker sends after these were sent in a first view of this conversation. */
const listSentByWorker = async (conversation: ConversationId, ...texts: string[]): Promise<unknown[]> => {
  vi.stubGlobal("localStorage", new ModelLocalStorage());
  vi.stubGlobal("indexedDB", new IDBFactory());
  const view = { dataset: {}, isConnected: false } as HTMLElement; // it shows no ticks
  const unsent = new EarlyUnsent(view, user, conversation);
  const draft = new EarlyDraft(unsent, conversation);
  const outbox = new EarlyOutbox({ view, user, conversation, unsent, draft, onStored: () => undefined });
  for (const text of texts) outbox.add({ cid: createUuid(), text, reply: undefined }, Date.now());
  await eventually(async () => expect((await readUnsent(user)).messages).toHaveLength(texts.length));
  const { messages } = await readUnsent(user);
  return [...selectMessages(messages, new Set()).values()].flat().map(({ body }) => Reflect.get(body, "text"));
};

test("texts that a first view sends to a group wait for the app from one on that may mention somebody", async () => {
  expect(await listSentByWorker(group, "un", "@Ana deux", "trois")).toEqual(["un"]);
});

test("all texts that a first view sends to a private chat are sent without the app", async () => {
  expect(await listSentByWorker(privateChat, "un", "@Ana deux", "trois")).toEqual(["un", "@Ana deux", "trois"]);
});
