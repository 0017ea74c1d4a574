import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { makePerson } from "#tests/support/people/people.ts";

test("help can be searched, read and copied by keyboard, offline too and in the language just chosen", async ({
  browser,
  server,
}) => {
  const ana = await makePerson(toSite(server), 4310, "Anastasie Ilunga");
  const phone = await TestClient.open(browser, server, "fr", withServiceWorker);
  const { page, texts, context } = phone;
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await phone.signIn(ana, "/app/profile");
  await waitForOfflineReady(page);
  await page.getByText("Português", { exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Perfil" })).toBeVisible();
  await page.getByText("Français", { exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: texts.profile.title })).toBeVisible();
  await page.getByRole("link", { name: texts.help.title }).click();
  await expect(page.getByRole("heading", { level: 1, name: texts.help.title })).toBeVisible();

  const questions = page.getByRole("main").locator("summary");
  const firstTopic = page.getByRole("heading", { level: 2, name: texts.help.topicMessages });
  await expect(firstTopic).toBeVisible();
  await expect(page.getByText("Que veulent dire les coches")).toBeHidden();
  await firstTopic.click();
  await expect(page.getByText("Que veulent dire les coches")).toBeVisible();
  const search = page.getByRole("searchbox", { name: texts.help.search });
  await search.focus();
  await page.keyboard.type("NUMERO voit");
  await expect(page.getByRole("status").getByText(/réponse/)).toBeVisible();
  await expect(questions.first()).toContainText("Qui voit mon numéro");
  await page.keyboard.press("Tab"); // the button that clears
  await page.keyboard.press("Tab");
  await expect(questions.first()).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Vos statuts Tala ne montrent pas votre numéro.")).toBeVisible();
  expect(await findAxeViolations(page)).toEqual([]);
  await search.fill("zzzz");
  await expect(page.getByText(texts.help.noneTitle)).toBeVisible();
  await expect(page.getByRole("status").filter({ hasText: "0 réponse" })).toHaveCount(1);
  await search.fill("");

  await context.setOffline(true);
  await page.reload();
  await firstTopic.click();
  await expect(page.getByText("Que veulent dire les coches")).toBeVisible();
  // The connection lines change with the link, after a short timeout.
  await expect(page.locator("pre")).toContainText("link: offline");
  await page.getByRole("button", { name: texts.help.copy }).click();
  await expect(page.getByText(texts.help.copied)).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^version: \d+\.\d+\.\d+ \([\w-]{8}\)\n/);
  expect(copied).toContain("network: offline");
  for (const secret of [ana.id, ana.phone, ana.phone.slice(1), ana.username, "Anastasie", "Kinshasa"]) {
    expect(copied).not.toContain(secret);
  }
  await expect(page.locator("pre")).toHaveText(copied);
  // Where the browser does not allow copying, the lines can be selected by hand.
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error("refused"));
  });
  await page.getByRole("button", { name: texts.help.copy }).click();
  await expect(page.getByRole("alert")).toContainText(texts.help.copyFailed);

  // Without a network the language changes if its texts were loaded once, and the answers change with it.
  await page.getByRole("link", { name: texts.common.back }).click();
  await page.getByText("Português", { exact: true }).click();
  await page.getByRole("link", { name: "Ajuda" }).click();
  await expect(page.getByRole("heading", { level: 2, name: "Mensagens" })).toBeVisible();
  await expect(page.getByText("O que querem dizer os vistos")).toBeHidden();
  await page.getByRole("heading", { level: 2, name: "Mensagens" }).click();
  await expect(page.getByText("O que querem dizer os vistos")).toBeVisible();
  await phone.close();
});

test("a help that could not be loaded says so and can be loaded again; an answer leads to the screen that it names, and is open and in view again on the way back", async ({
  browser,
  server,
}) => {
  const ana = await makePerson(toSite(server), 4312);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(ana, "/app/profile");
  await page.getByRole("heading", { level: 1, name: texts.profile.title }).waitFor();
  await page.waitForLoadState("networkidle");
  await page.route(/\/assets\/fr-/, (route) => route.abort());
  await page.getByRole("link", { name: texts.help.title }).click();
  await expect(page.getByText(texts.help.failedTitle)).toBeVisible();
  await page.unroute(/\/assets\/fr-/);
  await page.getByRole("main").getByRole("button", { name: texts.common.retry }).click();
  const topic = page.getByRole("heading", { level: 2, name: texts.help.topicPrivacy });
  await expect(topic).toBeVisible();

  await topic.click();
  await page.locator("summary").filter({ hasText: "Qui voit ma photo" }).click();
  const answer = page.locator("details p").filter({ hasText: texts.settings.privacy.picture.title });
  await expect(answer).toBeVisible();
  await answer.getByRole("link", { name: texts.settings.privacy.title, exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: texts.settings.privacy.title })).toBeVisible();
  await page.goBack();
  await expect(answer).toBeInViewport();
  // A new visit begins with the topics.
  await page.getByRole("link", { name: texts.common.back }).click();
  await page.getByRole("link", { name: texts.help.title }).click();
  await expect(topic).toBeVisible();
  await expect(answer).toBeHidden();
  await phone.close();
});

test("services open the partner's page in a tab that learns nothing about its origin, and say so where there is none", async ({
  browser,
  server,
}) => {
  const ana = await makePerson(toSite(server), 4311);
  const phone = await TestClient.open(browser, server, "en");
  const { page, texts, context } = phone;
  await phone.signIn(ana, "/app/services");
  await expect(page.getByText(texts.services.noneTitle)).toBeVisible();
  await expect(page.getByRole("main").getByRole("link", { name: texts.services.open })).toHaveCount(0);

  // A configured address is written into the page by the build.
  await page.route("**/app/services", async (route) => {
    const answer = await route.fetch();
    const meta = '<meta name="partner" content="https://partner.example/welcome">';
    await route.fulfill({ response: answer, body: (await answer.text()).replace("<head>", `<head>${meta}`) });
  });
  await context.route("https://partner.example/**", (route) =>
    route.fulfill({ contentType: "text/html", body: "<title>Partner</title>" }),
  );
  await page.reload();
  const link = page.getByRole("link", { name: texts.services.open });
  await expect(link).toHaveAttribute("rel", "noopener noreferrer");
  await expect(link).toHaveAccessibleDescription(fill(texts.services.newTab, { site: "partner.example" }));
  expect(await findAxeViolations(page)).toEqual([]);
  const [asked, opened] = await Promise.all([
    context.waitForEvent("request", (request) => request.url().startsWith("https://partner.example/")),
    context.waitForEvent("page"),
    link.focus().then(() => page.keyboard.press("Enter")),
  ]);
  await expect(opened).toHaveTitle("Partner");
  expect(asked.url()).toBe("https://partner.example/welcome");
  expect((await asked.allHeaders())["referer"]).toBeUndefined();
  expect(await opened.evaluate(() => [window.opener, document.referrer])).toEqual([null, ""]);
  await expect(page).toHaveURL("/app/services");
  await phone.close();
});
