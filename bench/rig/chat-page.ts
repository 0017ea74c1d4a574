import type { BrowserContext, Page } from "@playwright/test";
import { textsOf } from "#tests/support/browser/test-client.ts";
import { throttleCpu } from "./browser.ts";

const pageMinPx = 1_000; // a page of messages is taller than this, other changes are smaller
const settledMs = 600;

declare global {
  interface Window {
    /** Resolves with the time of the first frame in which the condition holds. */
    benchWhen: (isSo: () => unknown) => Promise<number>;
    benchList: () => HTMLElement | null;
    benchScroller: () => HTMLElement;
  }
}

const { chat: texts, common } = textsOf.fr;

/**
 * Chat in a browser with a throttled processor, timed inside the page: from the action to the frame that shows its
 * result.
 */
export class ChatPage {
  readonly page: Page;
  /** Time from the start of the navigation until the newest message was shown. */
  readonly openedMs: number;

  private constructor(page: Page, openedMs: number) {
    this.page = page;
    this.openedMs = openedMs;
  }

  static async open(context: BrowserContext, url: string, newest: string, slowness?: number): Promise<ChatPage> {
    const page = await context.newPage();
    await page.addInitScript(() => {
      window.benchWhen = (isSo) =>
        new Promise((resolve) => {
          const check = () => (isSo() ? resolve(performance.now()) : requestAnimationFrame(check));
          check();
        });
      window.benchList = () => document.querySelector<HTMLElement>("[role=main] ol");
      window.benchScroller = () => {
        const box = window.benchList()?.parentElement?.parentElement;
        if (!box) throw new Error("There is no list of messages");
        return box;
      };
    });
    await throttleCpu(page, slowness);
    await page.goto(url, { waitUntil: "commit" });
    const openedMs = await page.evaluate(
      (text) => window.benchWhen(() => window.benchList()?.textContent?.includes(text)),
      newest,
    );
    return new ChatPage(page, openedMs);
  }

  /** Waits until the app has replaced the first view and the height of the chat no longer changes. */
  async waitUntilSettled(): Promise<void> {
    await this.page.evaluate(async (settledMs) => {
      let height = 0;
      let since = performance.now();
      // The first view lists the newest messages only, from the bottom up.
      await window.benchWhen(() => document.querySelector("#first-view > *") === null && window.benchList());
      await window.benchWhen(() => {
        const now = window.benchScroller().scrollHeight;
        if (now !== height) [height, since] = [now, performance.now()];
        return performance.now() - since > settledMs;
      });
    }, settledMs);
  }

  /** Scrolls to the top; returns the time until a page of older messages is shown. */
  async scrollPageUp(): Promise<number> {
    return this.page.evaluate(async (pageMinPx) => {
      const box = window.benchScroller();
      const before = box.scrollHeight;
      const start = performance.now();
      box.scrollTop = 0;
      return (await window.benchWhen(() => box.scrollHeight > before + pageMinPx)) - start;
    }, pageMinPx);
  }

  /** Smallest seq among the rendered messages; seeded texts end with it. */
  readOldestSeq(): Promise<number> {
    return this.page.evaluate(() =>
      Math.min(
        ...[...(window.benchList()?.querySelectorAll("bdi") ?? [])].flatMap(({ textContent }) => {
          const match = /\d+$/.exec(textContent ?? "");
          return match ? [Number(match[0])] : [];
        }),
      ),
    );
  }

  async openSearch(): Promise<void> {
    await this.page.getByRole("button", { name: common.more, exact: true }).first().click();
    await this.page.getByRole("menuitem", { name: texts.search, exact: true }).click();
    await this.page.getByRole("searchbox", { name: texts.searchLabel }).waitFor();
  }

  /** Time until the first result is shown, and until the search is complete. */
  async search(query: string): Promise<{ firstMs: number; completeMs: number }> {
    return this.page.evaluate(
      async ({ query, label, list, running, none }) => {
        const field = document.querySelector<HTMLInputElement>(`input[aria-label="${label}"]`);
        const write = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
        if (!field || !write) throw new Error("There is no search field");
        const start = performance.now();
        write.call(field, query);
        field.dispatchEvent(new Event("input", { bubbles: true }));
        const hasFound = () => document.querySelector(`ul[aria-label="${list}"] button`) !== null;
        const panelSays = (text: string) => field.closest("div.absolute")?.textContent?.includes(text) ?? false;
        let firstMs = Number.NaN;
        const end = await window.benchWhen(() => {
          if (Number.isNaN(firstMs) && hasFound()) firstMs = performance.now() - start;
          return !panelSays(running) && (hasFound() || panelSays(none));
        });
        return { firstMs, completeMs: end - start };
      },
      { query, label: texts.searchLabel, list: texts.foundList, running: texts.searching, none: texts.noneTitle },
    );
  }

  /** Opens the only result; returns the time until it is shown in the chat. */
  async openResult(text: string): Promise<number> {
    return this.page.evaluate(
      async ({ text, list }) => {
        const found = document.querySelector<HTMLElement>(`ul[aria-label="${list}"] button`);
        const start = performance.now();
        found?.click();
        const isThere = () => {
          const box = window.benchList()?.parentElement?.parentElement?.getBoundingClientRect();
          const row = [...(window.benchList()?.children ?? [])].find((li) => li.textContent?.includes(text));
          const { top = 0, bottom = 0 } = row?.getBoundingClientRect() ?? {};
          return box !== undefined && row !== undefined && top >= box.top && bottom <= box.bottom;
        };
        return (await window.benchWhen(isThere)) - start;
      },
      { text, list: texts.foundList },
    );
  }

  close(): Promise<void> {
    return this.page.close();
  }
}
