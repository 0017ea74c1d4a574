import type { Page } from "@playwright/test";
import * as v from "valibot";
import { PageResult } from "../../contract/commands";
import type { Message } from "../../contract/conversations";
import { gapPageRows } from "../../contract/limits";
import { callSite, type Person, type Site } from "./people";

/** One line of a conversation as somebody holds it. */
export type Line = { seq: number; sender: number; text: string };

const toLine = ({ seq, sender, body }: Pick<Message, "seq" | "sender" | "body">): Line => ({
  seq,
  sender,
  text: body.type === "text" ? body.text : `<${body.type}>`,
});

/** A conversation's whole log as the server tells it to one of its members. */
export const readServerLog = async (site: Site, person: Person, conversation: string): Promise<Line[]> => {
  const lines: Line[] = [];
  for (let more = true; more; ) {
    const after = lines.at(-1)?.seq ?? 0;
    const path = `/api/conversations/${conversation}/messages?after=${after}&limit=${gapPageRows}`;
    const { status, body } = await callSite(site, "GET", path, { token: person.token });
    if (status !== 200) throw new Error(`page after ${after}: ${status}`);
    const page = v.parse(PageResult, body);
    lines.push(...page.messages.map(toLine));
    more = page.more;
  }
  return lines;
};

type StoreName = "messages" | "outbox";

const readStore = (page: Page, store: StoreName): Promise<unknown[]> =>
  page.evaluate(async (name) => {
    const databases = await indexedDB.databases();
    const found = databases.find((database) => database.name?.startsWith("lisolo-"))?.name;
    if (!found) return [];
    const finished = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const db = await finished(indexedDB.open(found));
    try {
      return await finished(db.transaction(name).objectStore(name).getAll());
    } finally {
      db.close();
    }
  }, store);

/** What a browser's own store holds of a conversation, in order. */
export const readLocalLog = async (page: Page, conversation: string): Promise<Line[]> => {
  const rows = (await readStore(page, "messages")) as (Message & { conversation: string })[];
  return rows
    .filter((row) => row.conversation === conversation)
    .map(toLine)
    .sort((x, y) => x.seq - y.seq);
};

/** What a browser has not had confirmed yet. */
export const countOutbox = async (page: Page): Promise<number> => (await readStore(page, "outbox")).length;

/** The texts of messages in the order the screen shows them, read while scrolling from the newest up. */
export const readScreen = async (page: Page): Promise<string[]> => {
  const shown = new Map<number, string>();
  const list = page.getByRole("main").getByRole("list").first();
  for (let still = 0; still < 15; ) {
    const seen = await list.evaluate((element) => {
      const items = [...element.querySelectorAll<HTMLElement>("li[data-seq]")];
      return items.map((item) => [Number(item.dataset["seq"]), item.querySelector("bdi")?.textContent ?? ""] as const);
    });
    const before = shown.size;
    for (const [seq, text] of seen) shown.set(seq, text);
    still = shown.size === before ? still + 1 : 0;
    await list.evaluate((element) => {
      let box: HTMLElement | null = element as HTMLElement;
      while (box && box.scrollHeight <= box.clientHeight) box = box.parentElement;
      box?.scrollBy(0, -box.clientHeight * 0.8);
    });
    await page.waitForTimeout(60);
  }
  return [...shown].sort(([x], [y]) => x - y).map(([, text]) => text);
};
