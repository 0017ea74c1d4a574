import type { Page } from "@playwright/test";
import * as v from "valibot";
import type { ConversationId } from "#contract/ids.ts";
import { gapPageRows } from "#contract/limits/conversations.ts";
import type { Message } from "#contract/messages/message.ts";
import { ChangesResult, PageResult } from "#contract/wire/commands.ts";
import { readUnsentRows } from "#tests/support/browser/unsent-rows.ts";
import { callSite, type Person, type Site } from "#tests/support/people/people.ts";

/** One message of a conversation, in comparable form. */
export type LogLine = { seq: number; sender: number; text: string };

export const toLogLine = ({ seq, sender, body }: Pick<Message, "seq" | "sender" | "body">): LogLine => ({
  seq,
  sender,
  text: body.type === "text" ? body.text : `<${body.type}>`,
});

/** Whole log of a conversation, as the server returns it to a member. */
export const readServerMessages = async (site: Site, person: Person, conversation: string): Promise<Message[]> => {
  const messages: Message[] = [];
  for (let more = true; more; ) {
    const after = messages.at(-1)?.seq ?? 0;
    const path = `/api/conversations/${conversation}/messages?after=${after}&limit=${gapPageRows}`;
    const { status, body } = await callSite(site, "GET", path, { token: person.token });
    if (status !== 200) throw new Error(`page after ${after}: ${status}`);
    const page = v.parse(PageResult, body);
    messages.push(...page.messages);
    more = page.more;
  }
  return messages;
};

export const readServerLog = async (site: Site, person: Person, conversation: string): Promise<LogLine[]> =>
  (await readServerMessages(site, person, conversation)).map(toLogLine);

/** Texts of a conversation as the server returns them to a member, oldest first. Other messages appear as `<kind>`. */
export const readServerTexts = async (site: Site, person: Person, conversation: string): Promise<string[]> =>
  (await readServerLog(site, person, conversation)).map(({ text }) => text);

const readStoredMessages = (page: Page): Promise<unknown[]> =>
  page.evaluate(async () => {
    const databases = await indexedDB.databases();
    const found = databases.find((database) => /^lisolo-[\da-f-]{36}$/.test(database.name ?? ""))?.name;
    if (!found) return [];
    const finished = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const db = await finished(indexedDB.open(found));
    try {
      return await finished(db.transaction("messages").objectStore("messages").getAll());
    } finally {
      db.close();
    }
  });

/** Messages of a conversation in a browser's store, in order. */
export const readLocalLog = async (page: Page, conversation: string): Promise<LogLine[]> => {
  const rows = (await readStoredMessages(page)) as (Message & { conversation: string })[];
  return rows
    .filter((row) => row.conversation === conversation)
    .map(toLogLine)
    .sort((x, y) => x.seq - y.seq);
};

/** Number of unacknowledged messages in a browser. */
export const countOutbox = async (page: Page): Promise<number> => (await readUnsentRows(page, "outbox")).length;

/** Number of unsent voice recordings in a browser. */
export const countRecordings = async (page: Page): Promise<number> => (await readUnsentRows(page, "recordings")).length;

/** Texts that a chat's screen shows, oldest first, read by scrolling up from the newest. No two may be the same. */
export const readScreen = (page: Page, first: string): Promise<string[]> =>
  page.evaluate(async (last) => {
    const box = document.querySelector("[role=main] ol, main ol")?.parentElement?.parentElement;
    if (!box) throw new Error("no list of messages");
    const seen = new Set<string>();
    const deadline = performance.now() + 90_000;
    while (!seen.has(last) && performance.now() < deadline) {
      const shown = [...box.querySelectorAll("li[data-index] bdi")].map((text) => text.textContent ?? "");
      for (const text of shown.reverse()) seen.add(text);
      box.scrollBy({ top: -400, behavior: "instant" });
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)));
    }
    return [...seen].reverse();
  }, first);

/** Number of unread messages of a conversation, as the server counts them; undefined if the person has none such. */
export const readUnread = async (
  site: Site,
  { token }: Person,
  conversation: ConversationId,
): Promise<number | undefined> => {
  const { body } = await callSite(site, "GET", "/api/sync?since=0", { token });
  return v.parse(ChangesResult, body).rows.find((row) => row.conversation === conversation)?.unread;
};
