import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { languages } from "#contract/language.ts";
import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { withServiceWorker } from "#tests/support/browser/offline.ts";
import { onePixelPng, TestClient, textsOf } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { makePerson } from "#tests/support/people/people.ts";
import { root } from "#tests/support/server/state.ts";

const { fr, en, pt } = textsOf;
const smallPicture = { name: "picture.png", mimeType: "image/png", buffer: onePixelPng };
const screens = {
  "/": "welcomeTitle",
  "/register": "registerTitle",
  "/login": "loginTitle",
  "/recover": "recoverTitle",
} as const;
const paths = Object.keys(screens) as (keyof typeof screens)[];

/** Holds back every script until it is released. */
const holdScripts = async (page: Page) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/assets/*.js", async (route) => {
    await released;
    await route.continue();
  });
  return release;
};

/** Every complaint of the content policy or the page itself from now on. */
const hearOffences = async (page: Page): Promise<string[]> => {
  const offences: string[] = [];
  page.on("console", (message) => {
    if (/Content Security|Trusted/i.test(message.text())) offences.push(message.text());
  });
  page.on("pageerror", (error) => offences.push(String(error)));
  await page.addInitScript(() =>
    addEventListener("securitypolicyviolation", (event) =>
      console.error(`Content Security: ${event.violatedDirective} ${event.blockedURI}`),
    ),
  );
  return offences;
};

test("an entry page is painted from its first response alone", async ({ page }) => {
  await holdScripts(page);
  const fetched: string[] = [];
  page.on("request", (request) => {
    if (["stylesheet", "image", "font"].includes(request.resourceType())) fetched.push(request.url());
  });
  for (const path of paths) {
    await page.goto(`${path}?lang=pt`, { waitUntil: "commit" });
    await expect(page).toHaveTitle(`${pt.auth[screens[path]]} · Lisolo`);
    await expect(page.locator("html")).toHaveAttribute("lang", "pt");
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    const ground = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    expect(ground).toBe("rgb(251, 247, 244)");
  }
  expect(fetched.filter((url) => !url.endsWith("/favicon.svg"))).toEqual([]);
});

test("each entry page exists in each language, and transfers at most 14 kB", () => {
  for (const path of paths) {
    for (const language of languages) {
      const file = join(root, "dist", "client", "entry", `${path.slice(1) || "welcome"}.${language}.page`);
      const page = readFileSync(file, "utf8");
      expect(page).toContain(`<title>${textsOf[language].auth[screens[path]]} · Lisolo</title>`);
      expect(page).toContain(`lang="${language}"`);
      expect(page).toContain("<h1");
      expect(statSync(`${file}.br`).size).toBeLessThan(14_000);
    }
  }
});

test("no entry page loads code that only the app runs", () => {
  for (const name of ["welcome", "register", "login", "recover"]) {
    const page = readFileSync(join(root, "dist", "client", "entry", `${name}.fr.page`), "utf8");
    expect(page).toContain("/assets/base-");
    expect(page, name).not.toMatch(/\/assets\/(app|shared|security)-/);
  }
});

test("input entered before the script arrived is kept, with the focus", async ({ page }) => {
  const release = await holdScripts(page);
  await page.goto("/register?lang=pt", { waitUntil: "commit" });
  await page.locator("[name=avatar]").setInputFiles(smallPicture);
  await page.locator("[name=password]").fill("Masolo2026");
  // The proof of work is done for this number.
  await page.locator("[name=phoneNumber]").fill("243810000044");
  await page.locator("[name=robot]").check();
  await page.locator("[name=displayName]").pressSequentially("Ana");
  expect(await page.locator("form img").count()).toBe(0);
  const marked = await page.locator("[name=displayName]").evaluateHandle((input) => input);
  release();
  // The script is loaded: it shows the chosen picture, and the proof of work of the ticked box is done.
  await expect(page.locator("form img")).toBeVisible();
  await expect(page.getByText(pt.auth.robotDone)).toBeVisible();
  await page.keyboard.type(" Maria");
  await expect(page.locator("[name=displayName]")).toHaveValue("Ana Maria");
  await expect(page.locator("[name=displayName]")).toBeFocused();
  await expect(page.locator("[name=password]")).toHaveValue("Masolo2026");
  await expect(page.locator("[name=robot]")).toBeChecked();
  await expect(page.locator("html")).toHaveAttribute("lang", "pt");
  // The same elements as in the prerendered page: none was replaced.
  expect(await marked.evaluate((input) => input.isConnected)).toBe(true);
});

test("input from before the script arrived survives a change of language and a reload", async ({ page }) => {
  const release = await holdScripts(page);
  await page.goto("/register?lang=fr", { waitUntil: "commit" });
  await page.locator("[name=displayName]").fill("Amina");
  await page.getByRole("link", { name: "English" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(en.auth.registerTitle);
  await page.locator("[name=phoneNumber]").fill("243810000043");
  await page.reload({ waitUntil: "commit" });
  release();
  await expect(page.locator("[name=displayName]")).toHaveValue("Amina");
  await expect(page.locator("[name=phoneNumber]")).toHaveValue("243810000043");
});

test("a form sent before its script arrived waits for it, visibly, and is then sent once", async ({ page }) => {
  const release = await holdScripts(page);
  let sent = 0;
  page.on("request", (request) => {
    // After failed sign-ins of other tests the server requires a proof of work, with which the app repeats it.
    const isRepeated = request.postData()?.includes("captcha_token");
    if (request.url().includes("/api/auth/token") && !isRepeated) sent++;
  });
  await page.goto("/login?lang=en", { waitUntil: "commit" });
  await page.locator("[name=phoneNumber]").fill("243810000041");
  await page.locator("[name=password]").fill("Masolo2026");
  await page.keyboard.press("Enter");
  const button = page.locator("[type=submit]");
  await expect(button).toHaveAttribute("aria-busy", "true");
  await expect(button.locator(".spinner")).toBeVisible();
  await expect(page).toHaveURL(/\/login/);
  release();
  await expect(page.getByText(en.errors.invalid_credentials)).toBeVisible();
  await expect(button).not.toHaveAttribute("aria-busy");
  await expect(page.locator("[name=phoneNumber]")).toHaveValue("243810000041");
  expect(sent).toBe(1);
});

test("a registration sent before its script arrived is executed with the picture and the ticked box", async ({
  page,
}) => {
  const release = await holdScripts(page);
  const offences = await hearOffences(page);
  let sent = 0;
  page.on("request", (request) => {
    if (request.url().includes("/api/auth/signup")) sent++;
  });
  await page.goto("/register?lang=en", { waitUntil: "commit" });
  await page.locator("[name=avatar]").setInputFiles(smallPicture);
  await page.locator("[name=displayName]").fill("Ben");
  await page.locator("[name=phoneNumber]").fill("243810000042");
  await page.locator("[name=password]").fill("Masolo2026");
  await page.locator("[name=confirmPassword]").fill("Masolo2026");
  await page.locator("[name=robot]").check();
  await page.locator("[type=submit]").click();
  await expect(page.locator("[type=submit]")).toHaveAttribute("aria-busy", "true");
  release();
  await page.waitForURL("**/app", { waitUntil: "commit" });
  await expect(page.getByRole("status").filter({ hasText: en.auth.accountCreated })).toBeVisible();
  expect(sent).toBe(1);
  expect(offences).toEqual([]);
});

test("a button pressed before its script arrived shows that it waits, and is executed then", async ({ page }) => {
  const release = await holdScripts(page);
  await page.goto("/recover?lang=en", { waitUntil: "commit" });
  const byCode = page.getByRole("button", { name: en.recover.byCode });
  await byCode.click();
  await expect(byCode.locator(".spinner")).toBeVisible();
  release();
  await expect(page.getByLabel(en.auth.phoneNumber)).toBeVisible();
  const byMail = page.getByRole("button", { name: en.recover.byMail });
  await expect(byMail).not.toHaveAttribute("aria-busy");
  await byMail.click();
  await expect(page.getByLabel(en.recover.email)).toBeVisible();
  await expect(byCode).not.toHaveAttribute("aria-busy");

  const releaseAgain = await holdScripts(page);
  await page.goto("/login?lang=en", { waitUntil: "commit" });
  await page.locator("[name=password]").fill("Masolo2026");
  // Of several submissions the last one counts and is shown.
  await page.locator("[type=submit]").click();
  await page.getByRole("button", { name: en.auth.showPassword }).click();
  await expect(page.locator("[type=submit]")).not.toHaveAttribute("aria-busy");
  releaseAgain();
  await expect(page.locator("[name=password]")).toHaveAttribute("type", "text");
  await expect(page.locator("[name=password]")).toHaveValue("Masolo2026");
  await page.getByRole("button", { name: en.auth.hidePassword }).click();
  await expect(page.locator("[name=password]")).toHaveAttribute("type", "password");
});

test("a script that cannot be loaded is reported, and a form submitted early stops waiting", async ({ page }) => {
  let giveUp = () => {};
  const givenUp = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  await page.route("**/assets/*.js", async (route) => {
    await givenUp;
    await route.abort();
  });
  await page.goto("/login?lang=en", { waitUntil: "commit" });
  const button = page.locator("[type=submit]");
  await button.click();
  await expect(button).toHaveAttribute("aria-busy", "true");
  giveUp();
  await expect(page.getByRole("alert")).toContainText(en.auth.loadFailed);
  await expect(button).not.toHaveAttribute("aria-busy");
  await button.click();
  await expect(button).not.toHaveAttribute("aria-busy");
});

test("without any script the language links work and are remembered", async ({ browser, baseURL }) => {
  const context = await browser.newContext({ javaScriptEnabled: false, locale: "fr-FR", ...(baseURL && { baseURL }) });
  const page = await context.newPage();
  await page.goto("/");
  await page.getByRole("link", { name: "Português" }).click();
  await expect(page.getByRole("link", { name: pt.auth.createAccount })).toBeVisible();
  await page.goto("/login");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(pt.auth.loginTitle);
  await page.getByRole("link", { name: "Français" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(fr.auth.loginTitle);
  await expect(page.locator("noscript p", { hasText: fr.auth.scriptNeeded })).toBeVisible();
  await context.close();
});

test("with the script a change of language keeps the input, and the next page uses it", async ({ page }) => {
  await page.goto("/register");
  await page.locator("[name=displayName]").fill("Amina");
  await expect(page.locator("html")).toHaveAttribute("data-taken"); // by its script: before that, a link loads from the server
  await page.getByRole("link", { name: "English" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(en.auth.registerTitle);
  await expect(page).toHaveTitle(`${en.auth.registerTitle} · Lisolo`);
  await expect(page.locator("[name=displayName]")).toHaveValue("Amina");
  await expect(page).toHaveURL(/\/register$/);
  await page.goto("/login");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(en.auth.loginTitle);
});

test("an unchanged page is not sent twice, and no shared cache stores it", async ({ request }) => {
  const first = await request.get("/login", { headers: { cookie: "lang=pt" } });
  const { etag, vary, "cache-control": caching } = first.headers();
  expect(caching).toBe("private, no-cache");
  expect(vary).toContain("Cookie");
  expect(etag).toBeTruthy();
  const headers = { "if-none-match": etag ?? "" };
  expect((await request.get("/login", { headers: { ...headers, cookie: "lang=pt" } })).status()).toBe(304);
  expect((await request.get("/login", { headers: { ...headers, cookie: "lang=fr" } })).status()).toBe(200);
  expect((await request.post("/login")).status()).toBe(405);
});

test.describe("with the service worker", () => {
  test.use(withServiceWorker);

  test("each entry page keeps to its content policy and fits a narrow and a wide screen, and axe finds no fault in it, light or dark", async ({
    page,
  }) => {
    const offences = await hearOffences(page);
    await page.emulateMedia({ reducedMotion: "reduce" });
    for (const path of paths) {
      await page.goto(path);
      await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
      const policy = (await page.request.get(path)).headers()["content-security-policy"] ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain("unsafe");
      if (path !== "/") {
        await page.locator("[type=submit]").click();
        await expect(page.locator("[aria-invalid=true]")).toBeFocused();
      }
      for (const viewport of [
        { width: 1280, height: 800 },
        { width: 360, height: 740 },
      ]) {
        await page.setViewportSize(viewport);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(overflow, `${path} ${viewport.width} px`).toBeLessThanOrEqual(0);
      }
      expect(await findAxeViolationsInBothThemes(page), path).toEqual([]);
    }
    expect(offences).toEqual([]);
  });

  test("nothing in the app violates its content policy", async ({ browser, server }) => {
    const phone = await TestClient.open(browser, server, "fr");
    const { page } = phone;
    const offences = await hearOffences(page);
    await phone.signIn(await makePerson(toSite(server), 61, "Politique"));
    for (const path of ["/app", "/app/contacts", "/app/senga", "/app/tala", "/app/profile", "/app/nowhere"]) {
      await phone.openRoute(path);
      await expect(page.getByRole("heading", { level: 1 }).first()).toBeVisible();
    }
    await page.waitForTimeout(300); // a violation may be reported after the heading
    const policy = (await page.request.get("/app")).headers()["content-security-policy"] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(offences).toEqual([]);
    await phone.close();
  });
});
