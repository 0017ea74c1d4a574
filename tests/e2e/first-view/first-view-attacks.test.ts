import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, holdScripts, makeChat, openCold, openPhone } from "#tests/support/browser/cold-start.ts";
import { fill, TestClient, waitForTakeover } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";
import { readServerLog } from "#tests/support/server/logs.ts";

test("a press on Send before the script of the document has arrived keeps the text", async ({ browser, server }) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 7724, ["bonjour"]);
  const context = await browser.newContext({
    baseURL: server.origin,
    serviceWorkers: "block",
    javaScriptEnabled: false,
  });
  const client = await TestClient.openIn(context, server, "fr", true);
  await client.setSessionCookies(ben);
  const { page } = client;
  await page.goto(`/app/chat/${ana.id}`);
  const url = page.url();
  await firstView(page).getByRole("textbox").fill("trop tôt");
  await firstView(page).locator("[type=submit]").click();
  await page.waitForTimeout(1_000); // a navigation
  expect(page.url()).toBe(url);
  await expect(firstView(page).getByRole("textbox")).toHaveValue("trop tôt");
  await client.close();
});

test("every text sent while the app takes over is sent once, in order, and every key typed then arrives", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9607, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await expect(firstView(page).getByRole("textbox")).toBeEditable();
  // Texts every 15 ms, from the moment the app is drawn below the view until the view is gone. A busy machine draws for
  // seconds meanwhile: later texts are sent with growing pauses, so that their number stays small.
  const sent = page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let [n, turns, due] = [0, 0, 1];
        const timer = setInterval(() => {
          const field = document.querySelector<HTMLTextAreaElement>("#first-view textarea");
          if (!field) {
            clearInterval(timer);
            resolve(n);
          } else if (document.querySelector("#root form[data-page-end]") && ++turns >= due) {
            due += 1 + Math.floor(n / 20);
            field.value = `texte ${++n}`;
            field.dispatchEvent(new Event("input", { bubbles: true }));
            field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
          }
        }, 15);
      }),
  );
  release();
  const count = await sent;
  expect(count).toBeGreaterThan(0);
  await expect
    .poll(async () => (await readServerLog(site, ben, conversation)).map(({ text }) => text), { timeout: 30_000 })
    .toEqual(["bonjour", ...Array.from({ length: count }, (_, index) => `texte ${index + 1}`)]);
  await expect(client.composer(page)).toHaveValue("");

  const releaseNext = await holdScripts(client.context);
  await page.reload({ waitUntil: "commit" });
  await firstView(page).getByRole("textbox").click();
  let typed = "";
  for (let n = 0, after = 0; after < 20 && n < 3_000; n++) {
    if (n === 10) releaseNext();
    const key = String.fromCharCode(97 + (n % 26));
    await page.keyboard.press(key);
    typed += key;
    if (n % 10 === 0 && (await firstView(page).locator("textarea").count()) === 0) after += 10;
  }
  await expect(client.composer(page)).toHaveValue(typed);
  await expect(firstView(page)).toHaveCount(0);
});

test("nothing of a person is on screen after the session ended in another tab or behind the back button, nor with the cookies of another person", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 9611, ["secret"]);
  const stranger = await makePerson(site, 9613);
  const client = await openPhone(browser, server);
  const page = await client.context.newPage();
  const path = `/app/chat/${ana.id}`;
  const expectNothing = async () => {
    await expect(firstView(page).locator("> *")).toHaveCount(0);
    await expect(page.getByText("secret")).toHaveCount(0);
  };
  for (const ending of ["in another tab", "behind the back button"]) {
    await openCold(client, ben, page);
    const release = await holdScripts(client.context);
    await page.goto(path, { waitUntil: "commit" });
    await firstView(page).getByRole("textbox").fill("à moitié écrit");
    if (ending === "in another tab") {
      const other = await client.context.newPage();
      await other.goto("/favicon.svg");
      await other.evaluate(() => localStorage.removeItem("session"));
      await other.close();
    } else {
      await page.evaluate(() => {
        localStorage.removeItem("session");
        dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
      });
    }
    await expect(firstView(page)).toHaveCount(0);
    await expect(page.getByText("secret")).toHaveCount(0);
    await client.context.clearCookies();
    release();
    await page.waitForURL((url) => !url.pathname.startsWith("/app"));
    await expect(page.getByText("secret")).toHaveCount(0);
  }

  // The cookies are another person's than this browser's session.
  await holdScripts(client.context);
  await openCold(client, ben, page);
  await client.setSessionCookies(stranger);
  await page.goto("/app", { waitUntil: "commit" });
  await expectNothing();
  await client.setSessionCookies(ben);
  await page.goto(path, { waitUntil: "commit" });
  await expect(firstView(page)).toContainText("secret");
  // Signed out in another tab: going back shows nothing of the person.
  await page.goto("/favicon.svg");
  await page.evaluate(() => localStorage.clear());
  await client.context.clearCookies();
  await page.goBack({ waitUntil: "commit" });
  await expectNothing();
});

test("a text sent without room on the phone is sent by the app, unless it was changed meanwhile", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9617, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await page.evaluate(() => {
    for (let size = 4_000_000; size >= 1; size = Math.floor(size / 2)) {
      try {
        for (let n = 0; ; n++) localStorage.setItem(`junk-${size}-${n}`, "x".repeat(size));
      } catch {}
    }
  });
  const field = firstView(page).getByRole("textbox");
  await field.fill("sans place");
  await page.keyboard.press("Enter");
  await expect(field).toHaveValue("sans place");
  await field.fill("sans place, corrigé");
  await expect(firstView(page).locator("form[data-early]")).toHaveCount(0);
  await page.keyboard.press("Enter");
  release();
  await expect
    .poll(async () => (await readServerLog(site, ben, conversation)).map(({ text }) => text), { timeout: 30_000 })
    .toEqual(["bonjour", "sans place, corrigé"]);
});

test("chats and lists with a notice are left to the app: a deleted account, an empty chat and an empty list", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 9619, ["au revoir"]);
  const [newcomer, friend] = [await makePerson(site, 9624), await makePerson(site, 9625)];
  await connectPeople(site, newcomer, friend);
  const deleted = await callSite(site, "DELETE", "/api/account", { token: ana.token, body: { user_id: ana.id } });
  expect(deleted.status).toBe(204);
  for (const [person, paths] of [
    [ben, [`/app/chat/${ana.id}`]],
    [newcomer, [`/app/chat/${friend.id}`, "/app"]],
  ] as const) {
    const client = await openPhone(browser, server);
    const page = await openCold(client, person);
    for (const path of paths) {
      const release = await holdScripts(client.context);
      await page.goto(path, { waitUntil: "commit" });
      await expect(page.locator("#shell")).toBeVisible();
      await expect(page.locator("#first-view > *")).toHaveCount(0);
      release();
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    }
    await client.close();
  }
});

test("the menu pressed early opens at its own row, although another contact has the same name", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ben = await makePerson(site, 9621);
  for (const n of [9622, 9623]) {
    const namesake = await makePerson(site, n, "Ana Mbuyi");
    await connectPeople(site, namesake, ben);
    await sendTexts(site, namesake, privateConversationId(namesake.id, ben.id), [`de ${n}`]);
  }
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const release = await holdScripts(client.context);
  await page.goto("/app", { waitUntil: "commit" });
  const name = fill(client.texts.masolo.rowActions, { name: "Ana Mbuyi" });
  await firstView(page).getByRole("listitem").filter({ hasText: "de 9622" }).getByRole("button", { name }).click();
  release();
  await waitForTakeover(page);
  await expect(page.locator("li", { has: page.locator("[aria-expanded=true]") })).toContainText("de 9622");
});
