import type { Page } from "@playwright/test";
import { Secret, TOTP } from "otpauth";
import * as v from "valibot";
import { Session } from "#contract/auth/auth.ts";
import { Enrolled, FactorChallenge } from "#contract/auth/factors.ts";
import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, findToast, TestClient, type Texts } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, type Person, type Site } from "#tests/support/people/people.ts";

const chromeOnAndroid =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36";
const chromeOnLinux = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36";
const newPassword = "Makutano2027";
const closesWithinMs = 2_000; // limit for closing the sockets of a revoked session

/** The same person with a session of another device. */
const logInElsewhere = async (site: Site, person: Person, userAgent = chromeOnAndroid): Promise<Person> => {
  const { phone, password } = person;
  const { body } = await callSite(site, "POST", "/api/auth/token?grant_type=password", {
    headers: { "user-agent": userAgent },
    body: { phone, password },
  });
  const { access_token: token, refresh_token: refreshToken } = v.parse(Session, body);
  return { ...person, token, refreshToken };
};

const card = (page: Page, texts: Texts) => page.getByRole("region", { name: texts.security.notices.title });
const says = (page: Page, texts: Texts, event: string) =>
  expect(card(page, texts).getByText(new RegExp(`^${event} \\(.+\\), .*\\d\\d:\\d\\d\\.$`))).toBeVisible();

const expectNothingLeft = async (page: Page): Promise<void> => {
  await expect(page).toHaveURL(/\/login$/);
  await expect.poll(() => page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name))).toEqual([]);
  expect(await page.evaluate(() => localStorage.getItem("session"))).toBeNull();
};

/** Resolves when the page's next socket closes. */
const watchSocket = (page: Page) => {
  let closed: Promise<unknown> = Promise.resolve();
  page.on("websocket", (socket) => {
    // Nobody may wait for this promise any more when the page closes.
    closed = new Promise((resolve) => socket.once("close", resolve));
  });
  return () => closed;
};

test("a new sign-in is reported on every other device, in its language, once, with the possible actions", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 9_540, "Ana Mbuyi");
  const tablet = await TestClient.open(browser, server, "pt");
  await tablet.signIn(await logInElsewhere(site, ana));
  const phone = await TestClient.open(browser, server);
  await phone.signIn(ana);
  // It was offline when the tablet signed in.
  await says(phone.page, phone.texts, phone.texts.security.notices.events.signed_in);
  await phone.page.getByRole("button", { name: phone.texts.common.close }).click();
  await expect(card(phone.page, phone.texts)).toHaveCount(0);
  await expect(card(tablet.page, tablet.texts)).toHaveCount(0);

  const otherTab = await phone.context.newPage();
  await phone.goTo("/app/contacts", otherTab);
  await logInElsewhere(site, ana);
  for (const [page, texts] of [
    [phone.page, phone.texts],
    [otherTab, phone.texts],
    [tablet.page, tablet.texts],
  ] as const) {
    await says(page, texts, texts.security.notices.events.signed_in);
    await expect(card(page, texts)).toContainText("Chrome · Android");
  }
  // With the largest text it covers less than a quarter of a small screen, and contains the same text.
  const before = tablet.page.viewportSize();
  await tablet.page.setViewportSize({ width: 360, height: 740 });
  await tablet.page.evaluate(() => (document.documentElement.dataset.look = "larger"));
  await expect.poll(async () => (await card(tablet.page, tablet.texts).boundingBox())?.height).toBeLessThan(740 * 0.23);
  await says(tablet.page, tablet.texts, tablet.texts.security.notices.events.signed_in);
  await tablet.page.evaluate(() => delete document.documentElement.dataset.look);
  if (before) await tablet.page.setViewportSize(before);
  await logInElsewhere(site, ana, "");
  await expect(card(tablet.page, tablet.texts)).toContainText(tablet.texts.security.notices.unknownDevice);
  // Dismissing removes what was shown: both tabs have received both notices.
  for (const [page, texts] of [
    [phone.page, phone.texts],
    [otherTab, phone.texts],
    [tablet.page, tablet.texts],
  ] as const) {
    await expect(card(page, texts)).toContainText(fill(texts.security.notices.more_one, { count: 1 }));
  }
  await card(otherTab, phone.texts).getByRole("link", { name: phone.texts.security.notices.notYou }).click();
  await expect(otherTab).toHaveURL(/\/app\/security$/);
  await expect(card(otherTab, phone.texts)).toHaveCount(0);
  await expect(card(phone.page, phone.texts)).toHaveCount(0);
  await phone.page.reload();
  await expect(phone.page.getByRole("heading", { name: phone.texts.shell.tabs.masolo })).toBeVisible();
  await expect(card(phone.page, phone.texts)).toHaveCount(0);
  // The other device keeps it until its user has seen it there.
  await expect(card(tablet.page, tablet.texts)).toBeVisible();
  await tablet.openRoute("/app/security");
  for (const name of [tablet.texts.security.devices.title, tablet.texts.auth.password]) {
    await card(tablet.page, tablet.texts).getByRole("button", { name }).click();
    await expect(tablet.page.getByRole("heading", { name })).toBeFocused();
    await expect(tablet.page.getByRole("heading", { name })).toBeInViewport();
  }
  await phone.close();
  await tablet.close();
});

test("a device that is signed out from the security page closes within two seconds, and keeps no data of its user", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 9_541, "Ana Mbuyi");
  const [phone, lost] = [await TestClient.open(browser, server), await TestClient.open(browser, server, "pt")];
  await phone.signIn(ana);
  const closed = watchSocket(lost.page);
  await lost.signIn(await logInElsewhere(site, ana, chromeOnLinux));
  await expect(lost.page.getByText(lost.texts.masolo.emptyTitle)).toBeVisible(); // notified by its socket
  await says(phone.page, phone.texts, phone.texts.security.notices.events.signed_in);
  await card(phone.page, phone.texts).getByRole("link").click();
  const { devices } = phone.texts.security;
  await phone.page.getByRole("button", { name: fill(devices.endName, { name: "Chrome · Linux" }) }).click();
  const ended = phone.page
    .waitForResponse((response) => response.request().method() === "DELETE")
    .then(() => Date.now());
  await phone.page.getByRole("alertdialog").getByRole("button", { name: devices.end, exact: true }).click();
  await closed();
  expect(Date.now() - (await ended)).toBeLessThan(closesWithinMs);
  await expectNothingLeft(lost.page);
  // The reason stays visible, also for the next visitor, until somebody signs in.
  const reason = lost.page.getByText(lost.texts.auth.sessionEnded);
  await expect(reason).toBeVisible();
  await expect(findToast(lost.page)).toHaveCount(0);
  const number = lost.page.getByLabel(lost.texts.auth.phoneNumber);
  await number.fill("243810");
  await lost.page.reload();
  await expect(reason).toBeVisible();
  await expect(number).toHaveValue("243810");
  await lost.page.getByRole("link", { name: "Français" }).click();
  await expect(lost.page.getByText(phone.texts.auth.sessionEnded)).toBeVisible();
  await lost.page.getByRole("link", { name: "Português" }).click();
  await expect(reason).toBeVisible();
  await lost.logIn(ana.phone);
  await expect.poll(() => lost.page.evaluate(() => Object.keys(sessionStorage))).toEqual([]);
  await expect(phone.page.getByText(devices.current)).toBeVisible();
  await phone.close();
  await lost.close();
});

/** Her account now requires a code, and nobody has one. */
const addCodeApp = async (site: Site, person: Person): Promise<Person> => {
  const { token } = person;
  const added = await callSite(site, "POST", "/api/auth/factors", { token, body: { factor_type: "totp" } });
  const { id, totp } = v.parse(Enrolled, added.body);
  const asked = await callSite(site, "POST", `/api/auth/factors/${id}/challenge`, { token, body: {} });
  const challenge_id = v.parse(FactorChallenge, asked.body).id;
  const code = new TOTP({ secret: Secret.fromBase32(totp.secret) }).generate();
  const shown = await callSite(site, "POST", `/api/auth/factors/${id}/verify`, { token, body: { challenge_id, code } });
  const { access_token, refresh_token } = v.parse(Session, shown.body);
  return { ...person, token: access_token, refreshToken: refresh_token };
};

const askReset = async (site: Site, person: Person): Promise<void> => {
  const { token } = await logInElsewhere(site, person);
  expect((await callSite(site, "POST", "/api/auth/factors/reset", { token })).status).toBe(200);
};

test("a request to remove the second factor stays on a device until it is cancelled on another; a new password signs out every other device, also an offline one", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const made = await makePerson(site, 9_543, "Ana Mbuyi");
  const tablet = await TestClient.open(browser, server, "en");
  const { page, texts } = tablet;
  await tablet.signIn(await logInElsewhere(site, made));
  const ana = await addCodeApp(site, made);
  await askReset(site, ana);
  const stop = page.getByRole("button", { name: texts.security.reset.keep });
  await expect(page.getByText(texts.security.reset.title)).toBeVisible();
  await page.reload();
  await expect(stop).toBeVisible();
  const cancelled = await callSite(site, "DELETE", "/api/auth/factors/reset", { token: ana.token });
  expect(cancelled.status).toBeLessThan(300);
  await expect(stop).toHaveCount(0);
  await says(page, texts, texts.security.notices.events.reset_cancelled);
  const { body } = await callSite(site, "GET", "/api/auth/security", { token: ana.token });
  expect(body).toMatchObject({ reset: null, factors: [{ status: "verified" }] });

  await tablet.context.setOffline(true);
  await expect(page.getByText(texts.shell.link.offline)).toBeVisible({ timeout: 30_000 }); // its socket is known to be dead
  const changed = await callSite(site, "PUT", "/api/auth/user", { token: ana.token, body: { password: newPassword } });
  expect(changed.status).toBe(200);
  await tablet.context.setOffline(false);
  await expectNothingLeft(page);
  await tablet.close();
});

test("a person who signs in over another person's open chat, with an interrupted answer, sees only their own messages, and no page stores them for the other", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cleo] = [
    await makePerson(site, 9_544, "Ana Mbuyi"),
    await makePerson(site, 9_545, "Ben Ilunga"),
    await makePerson(site, 9_546, "Cleo Nsimba"),
  ];
  await connectPeople(site, ana, ben);
  await connectPeople(site, cleo, ben);
  await sendTexts(site, ben, privateConversationId(ben.id, cleo.id), ["pour Cleo seule"]);
  const phone = await TestClient.open(browser, server);
  const { page } = phone;
  await phone.signInToChat(ana, ben.id);
  await phone.write("bonjour");
  await expect(phone.ticks("bonjour", "sent").or(phone.ticks("bonjour", "delivered"))).toBeVisible();
  await phone.context.setOffline(true);
  await phone.composer().fill("à finir");
  // The head of the answer arrived, with the cookies; its body did not.
  await phone.setSessionCookies(cleo);
  await phone.context.setOffline(false);
  await expect.poll(() => page.evaluate(() => localStorage.getItem("session"))).toContain(cleo.id);
  await phone.goTo("/app");
  await expect(phone.conversation("Ben Ilunga")).toContainText("pour Cleo seule");
  await expect(page.getByText("bonjour")).toHaveCount(0);

  // Her own notices are still there for her.
  await phone.signIn(ana);
  await expect(phone.conversation("Ben Ilunga")).toContainText("à finir");
  await expect(page.getByText("pour Cleo seule")).toHaveCount(0);
  await phone.close();
});
