import type { Page } from "@playwright/test";
import { accessTokenSeconds } from "#contract/limits/authentication.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { onePixelPng, TestClient, waitForWelcome } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";
import { accessCookie } from "#worker/lib/http/cookies.ts";

/** Simulates the state after ten minutes: the cookie has expired, and the page can know it. */
const expireSession = async (phone: TestClient): Promise<void> => {
  await phone.context.clearCookies({ name: accessCookie });
  await phone.page.evaluate(() => {
    const session = JSON.parse(localStorage.getItem("session") ?? "{}") as { expiresAt: number };
    localStorage.setItem("session", JSON.stringify({ ...session, expiresAt: Date.now() - 1_000 }));
  });
};

const isRenewal = (url: string): boolean => url.includes("grant_type=refresh_token");

/** Number of people's pictures that the page shows and has drawn. */
const countDrawn = (page: Page): Promise<number> =>
  page
    .getByRole("main")
    .locator("img")
    .evaluateAll((images: HTMLImageElement[]) => images.filter(({ naturalWidth }) => naturalWidth > 0).length);

const makeFriends = async (site: ReturnType<typeof toSite>, first: number) => {
  const ana = await makePerson(site, first, "Ana Mbuyi");
  const friends = [];
  for (const [index, name] of ["Benoît Kalala", "Chantal Ilunga"].entries()) {
    const friend = await makePerson(site, first + 1 + index, name);
    await connectPeople(site, ana, friend);
    await site.fetch(`${site.origin}/api/profile/avatar`, {
      method: "PUT",
      headers: { authorization: `Bearer ${friend.token}`, "content-type": "image/png" },
      body: onePixelPng,
    });
    friends.push(friend);
  }
  return { ana, friends };
};

test("pictures of people appear although the access cookie has expired, after one renewal for all of them", async ({
  browser,
  server,
}) => {
  const { ana } = await makeFriends(toSite(server), 9_960);
  const phone = await TestClient.open(browser, server);
  const up = waitForWelcome(phone.page);
  await phone.signIn(ana, "/app/help");
  await up;
  const renewals: string[] = [];
  phone.page.on("request", (request) => isRenewal(request.url()) && renewals.push(request.url()));
  await expireSession(phone);
  await phone.goToTab("contacts");
  await expect.poll(() => countDrawn(phone.page)).toBe(2);
  expect(renewals).toHaveLength(1);
  await phone.close();
});

test("a picture that could not be loaded offline appears when the network is back", async ({ browser, server }) => {
  const { ana } = await makeFriends(toSite(server), 9_970);
  const phone = await TestClient.open(browser, server);
  const up = waitForWelcome(phone.page);
  await phone.signIn(ana, "/app/help");
  await up;
  await phone.page.route("**/api/avatars/**", (route) => route.abort());
  await phone.goToTab("contacts");
  await expect(phone.page.getByText("Benoît Kalala")).toBeVisible();
  expect(await countDrawn(phone.page)).toBe(0);
  await phone.page.unroute("**/api/avatars/**");
  await phone.page.evaluate(() => dispatchEvent(new Event("online")));
  await expect.poll(() => countDrawn(phone.page)).toBe(2);
  await phone.close();
});

test("the session of a visible page is renewed before its cookie expires", async ({ browser, server }) => {
  const ana = await makePerson(toSite(server), 9_980, "Ana Mbuyi");
  const phone = await TestClient.open(browser, server);
  await phone.page.clock.install();
  const up = waitForWelcome(phone.page);
  await phone.signIn(ana, "/app/help");
  await up;
  const renewal = phone.page.waitForRequest((request) => isRenewal(request.url()));
  await phone.page.clock.fastForward(accessTokenSeconds * 1_000 - 60_000);
  await renewal;
  await phone.close();
});
