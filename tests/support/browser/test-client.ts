import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  expect,
  type Locator,
  type Page,
} from "@playwright/test";
import type { Language } from "#contract/language.ts";
import { accessTokenSeconds } from "#contract/limits/authentication.ts";
import en from "#i18n/en.json" with { type: "json" };
import fr from "#i18n/fr.json" with { type: "json" };
import pt from "#i18n/pt.json" with { type: "json" };
import { type Person, testPassword } from "#tests/support/people/people.ts";
import type { Server } from "#tests/support/server/server.ts";
import { accessCookie, refreshCookie } from "#worker/lib/http/cookies.ts";
import { closeWindow } from "./closing-test.ts";

export const textsOf = { fr, en, pt } as const satisfies Record<Language, typeof fr>;
export type Texts = typeof fr;

/** Fills the {placeholders} of a text. */
export const fill = (text: string, values: Record<string, string | number>): string =>
  text.replace(/\{(\w+)\}/g, (hole, name: string) => String(values[name] ?? hole));

/** Valid picture of one pixel. */
export const onePixelPng = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Toast, including toasts that are announced or that stay visible after a navigation. */
export const findToast = (page: Page): Locator => page.locator("[data-toast]");

/** Waits until the socket that the page is about to open is connected. */
export const waitForWelcome = async (page: Page): Promise<void> => {
  const socket = await page.waitForEvent("websocket");
  await socket.waitForEvent("framereceived");
};

const takeoverMs = 10_000;

/** Waits until the app has replaced the first view of its document (`src/app/first-view-takeover.ts`), if there is one. */
export const waitForTakeover = (page: Page): Promise<unknown> =>
  page
    .waitForFunction(() => !document.getElementById("first-view")?.firstElementChild, undefined, {
      timeout: takeoverMs,
    })
    .catch(() => undefined);

/** Makes `goto` and `reload` of a page wait for the app, so that a test does not act on a view that is about to go. */
const waitOnNavigation = (page: Page): Page => {
  const [goto, reload] = [page.goto.bind(page), page.reload.bind(page)];
  page.goto = async (...options) => {
    const response = await goto(...options);
    await waitForTakeover(page);
    return response;
  };
  page.reload = async (...options) => {
    const response = await reload(...options);
    await waitForTakeover(page);
    return response;
  };
  return page;
};

/** Makes the server send the app's pages without the person's content, as it does when a browser only prefetches them. */
export const withholdContent = (context: BrowserContext): Promise<void> =>
  context.setExtraHTTPHeaders({ "sec-purpose": "prefetch" });

const openMs = 30_000; // the whole app starts, often in several clients at once

const chatPath = (userId: string): string => `/app/chat/${userId}`;

/** Browser of one person, with the actions a person performs in it. */
export class TestClient {
  readonly context: BrowserContext;
  readonly page: Page;
  texts: Texts;
  readonly #origin: string;

  private constructor(context: BrowserContext, page: Page, texts: Texts, origin: string) {
    this.context = context;
    this.page = page;
    this.texts = texts;
    this.#origin = origin;
  }

  /** Opens a separate browser context, in French by default. */
  static async open(
    browser: Browser,
    server: Server,
    language: Language = "fr",
    options: Pick<BrowserContextOptions, "serviceWorkers"> = {},
  ): Promise<TestClient> {
    return TestClient.openIn(await browser.newContext({ baseURL: server.origin, ...options }), server, language);
  }

  /** `seesFirstViews`: navigations do not wait for the app. */
  static async openIn(
    context: BrowserContext,
    server: Server,
    language: Language = "fr",
    seesFirstViews = false,
  ): Promise<TestClient> {
    if (!seesFirstViews) {
      const newPage = context.newPage.bind(context);
      context.newPage = async () => waitOnNavigation(await newPage());
    }
    // This device already showed the data price of a call.
    await context.addInitScript(() => {
      if (location.protocol !== "about:") localStorage.setItem("call-price", "audio video");
    });
    await context.addCookies([{ name: "lang", value: language, url: server.origin }]);
    return new TestClient(context, await context.newPage(), textsOf[language], server.origin);
  }

  /** Attaches through the composer's menu, which contains these entries on narrow screens. */
  async attach(what: "file" | "image" | "camera", page = this.page): Promise<void> {
    const { attach } = this.texts.chat;
    await page.getByRole("button", { name: attach.menu, exact: true }).click();
    await page.getByRole("menuitem", { name: attach[what], exact: true }).click();
  }

  /** Continues in another language from the next navigation on. */
  async switchLanguage(language: Language): Promise<void> {
    await this.context.addCookies([{ name: "lang", value: language, url: this.#origin }]);
    this.texts = textsOf[language];
  }

  async goTo(path: string, page = this.page): Promise<void> {
    await page.goto(this.#origin + path);
  }

  /** Opens a page of the app that is already loaded, as going forward in the history does: without loading it again. */
  async openRoute(path: string): Promise<void> {
    await this.page.evaluate((path) => {
      const idx = (history.state?.idx ?? 0) + 1; // react-router's position in the history
      // Not the method of this document's history, through which the app follows its own navigations.
      History.prototype.pushState.call(history, { idx }, "", path);
      dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
    }, path);
  }

  async register(name: string, phone: string): Promise<void> {
    const { page, texts } = this;
    await this.goTo("/register");
    await page.locator("#avatar").setInputFiles({ name: "moi.png", mimeType: "image/png", buffer: onePixelPng });
    await page.getByLabel(texts.auth.displayName).fill(name);
    await page.getByLabel(texts.auth.phoneNumber).fill(phone.replace("+", ""));
    await page.getByLabel(texts.auth.password, { exact: true }).fill(testPassword);
    await page.getByLabel(texts.auth.confirmPassword, { exact: true }).fill(testPassword);
    await page.getByLabel(texts.auth.robot).check();
    await page.getByRole("button", { name: texts.auth.createAccount }).click();
    await page.waitForURL("**/app");
  }

  /** Logs in through the form. */
  async logIn(phone: string, password = testPassword): Promise<void> {
    const { page, texts } = this;
    await this.goTo("/login");
    await page.getByLabel(texts.auth.phoneNumber).fill(phone);
    await page.getByLabel(texts.auth.password, { exact: true }).fill(password);
    await page.getByRole("button", { name: texts.auth.logIn, exact: true }).click();
    await page.waitForURL("**/app");
  }

  /** Uses the session that was created with the person. The log-in form has tests of its own. */
  async signIn(person: Person, path = "/app"): Promise<void> {
    const expires = await this.setSessionCookies(person);
    const session = JSON.stringify({ userId: person.id, expiresAt: expires * 1_000 });
    // Before the first script of the page and only there: pages opened by the app find what it left.
    const stored = await this.page.addInitScript(
      ({ session, mark }) => {
        if (window.name === mark) return;
        window.name = mark;
        localStorage.setItem("session", session);
      },
      { session, mark: crypto.randomUUID() },
    );
    await this.goTo(path);
    await stored.dispose();
  }

  /** Replaces the session's cookies only. Returns their expiry in seconds since 1970. */
  async setSessionCookies({ token, refreshToken }: Person): Promise<number> {
    const url = this.#origin.replace("http:", "https:"); // secure cookies are sent to localhost all the same
    const expires = Math.floor(Date.now() / 1_000) + accessTokenSeconds;
    const kept = { url, expires, httpOnly: true, sameSite: "Strict", secure: true } as const;
    await this.context.addCookies([
      { ...kept, name: accessCookie, value: token },
      { ...kept, name: refreshCookie, value: refreshToken },
    ]);
    return expires;
  }

  async signInToChat(person: Person, userId: string): Promise<void> {
    await this.signIn(person, chatPath(userId));
    await expect(this.composer()).toBeVisible({ timeout: openMs });
  }

  /** Opens a tab through the tab bar and waits until its screen and code are loaded. */
  async goToTab(tab: keyof Texts["shell"]["tabs"], page = this.page): Promise<void> {
    await this.pressTab(tab, page);
    const heading = { level: 1, name: this.texts.shell.tabs[tab], exact: true };
    await expect(page.getByRole("main").getByRole("heading", heading)).toBeVisible({ timeout: openMs });
  }

  async pressTab(tab: keyof Texts["shell"]["tabs"], page = this.page): Promise<void> {
    await page
      .getByRole("navigation", { name: this.texts.shell.navigation })
      .getByRole("link", { name: this.texts.shell.tabs[tab] })
      .click();
  }

  async openChat(userId: string, page = this.page): Promise<void> {
    await this.goTo(chatPath(userId), page);
    await expect(this.composer(page)).toBeVisible({ timeout: openMs });
  }

  composer(page = this.page): Locator {
    return page.getByRole("textbox", { name: this.texts.chat.composer });
  }

  async write(text: string, page = this.page): Promise<void> {
    await this.composer(page).fill(text);
    await this.composer(page).press("Enter");
  }

  /**
   * Sends these texts as fast as the page accepts them. Runs in the page, because each call from outside costs more
   * than the page needs.
   */
  async writeAll(texts: string[]): Promise<void> {
    await this.composer().evaluate(async (field: HTMLTextAreaElement, texts) => {
      const type = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set;
      const drawn = () => new Promise((resolve) => requestAnimationFrame(resolve));
      for (const text of texts) {
        type?.call(field, text);
        field.dispatchEvent(new InputEvent("input", { bubbles: true }));
        await drawn();
        field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
        while (field.value !== "") await drawn();
      }
    }, texts);
  }

  /** Answers the question whether to delete an unsent message. */
  async confirmDeletion(): Promise<void> {
    const { messages, common } = this.texts;
    const question = this.page.getByRole("alertdialog", { name: messages.deleteUnsentTitle });
    await question.getByRole("button", { name: common.delete, exact: true }).click();
  }

  /** Message with exactly this text. */
  message(text: string, page = this.page): Locator {
    return page
      .getByRole("main")
      .getByRole("listitem")
      .filter({ has: page.locator("bdi").getByText(text, { exact: true }) });
  }

  /** Status ticks of an own message with exactly this text, by accessible name. */
  ticks(text: string, status: keyof Texts["chat"]["status"], page = this.page): Locator {
    return this.message(text, page).getByRole("img", { name: this.texts.chat.status[status], exact: true });
  }

  /** Row of a conversation in Masolo. */
  conversation(name: string, page = this.page): Locator {
    return page.getByRole("link").filter({ has: page.locator("bdi").getByText(name, { exact: true }) });
  }

  async close(): Promise<void> {
    await closeWindow(this.context);
  }
}
