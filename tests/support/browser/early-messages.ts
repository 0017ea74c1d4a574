import type { Locator, Page } from "@playwright/test";
import { firstView } from "./cold-start.ts";
import type { TestClient } from "./test-client.ts";

/** Messages that are written in a first view, before the app has loaded. */

/** Requests that send messages. */
export const messagesPattern = "**/api/conversations/*/messages";

export const writeEarly = async (page: Page, text: string): Promise<void> => {
  await firstView(page).getByRole("textbox").fill(text);
  await page.keyboard.press("Enter");
};

/** Row of a message with exactly this text in the first view. */
export const earlyRow = (page: Page, text: string): Locator =>
  firstView(page)
    .getByRole("listitem")
    .filter({ has: page.locator("bdi").getByText(text, { exact: true }) });

export const earlyTick = (client: TestClient, page: Page, text: string, status: "sending" | "sent"): Locator =>
  earlyRow(page, text).getByRole("img", { name: client.texts.chat.status[status], exact: true });
