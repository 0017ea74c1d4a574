import type { Route } from "@playwright/test";
import * as v from "valibot";
import { Session } from "#contract/auth/auth.ts";
import { Challenge } from "#contract/auth/sign-in.ts";
import { errorStatus } from "#contract/errors.ts";
import { formatPhone } from "#contract/phone/phone-text.ts";
import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { setVisibility } from "#tests/support/browser/visibility.ts";
import { toSite } from "#tests/support/people/pair.ts";
import {
  callSite,
  connectPeople,
  makePerson,
  type Person,
  type Site,
  solveForToken,
} from "#tests/support/people/people.ts";
import { invitationTexts } from "#worker/service/invitation-texts.ts";

const Messages = v.array(v.object({ to: v.string(), text: v.string() }));
const monthMs = 31 * 24 * 3_600_000;

/** Verifies a person's number by a code, which the local server shows. */
const verify = async (site: Site, { token, phone }: Person): Promise<void> => {
  const challenge = v.parse(
    Challenge,
    (await callSite(site, "POST", "/api/number/challenge", { token, body: {} })).body,
  );
  const work = { method: "sms_code", captcha_token: await solveForToken(challenge) };
  const started = await callSite(site, "POST", "/api/number/proofs", { token, body: work });
  const { id } = v.parse(v.object({ id: v.string() }), started.body);
  const answer = await fetch(`${site.origin}/dev/sms`, { headers: { accept: "application/json" } });
  const message = v.parse(Messages, await answer.json()).find(({ to }) => to === phone);
  const body = { code: /\d{6}/.exec(message?.text ?? "")?.[0] };
  expect((await callSite(site, "POST", `/api/number/proofs/${id}/code`, { token, body })).status).toBe(200);
};

const Started = v.object({ ask: v.object({ url: v.string() }) });

/** Opens new tokens for a person, whose former ones are older than a few minutes. */
const renewSession = async (site: Site, person: Person): Promise<void> => {
  const body = { refresh_token: person.refreshToken };
  const renewed = v.parse(
    Session,
    (await callSite(site, "POST", "/api/auth/token?grant_type=refresh_token", { body })).body,
  );
  [person.token, person.refreshToken] = [renewed.access_token, renewed.refresh_token];
};

/** Asks for confirmation on the page of the own number. Returns the link of the code. */
const showCode = async ({ page, texts }: TestClient): Promise<string> => {
  const started = page.waitForResponse("**/api/number/proofs");
  await page.getByRole("button", { name: texts.number.methods.vouching }).press("Enter");
  const { url } = v.parse(Started, await (await started).json()).ask;
  await expect(page.getByRole("img", { name: texts.number.vouching.qr })).toBeVisible();
  return url;
};

test("a person has the number confirmed by two contacts who open the code, with a reload in the middle", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const setClock = (at: number | "") => fetch(`${server.origin}/dev/clock`, { method: "PUT", body: String(at) });
  await setClock(Date.now() - monthMs);
  const [ben, cal] = [await makePerson(site, 8_912), await makePerson(site, 8_913)];
  const ana = await makePerson(site, 8_911);
  for (const contact of [ben, cal]) {
    await verify(site, contact);
    await connectPeople(site, ana, contact);
  }
  // Sessions that nobody uses end after thirty days.
  for (const at of [Date.now() - monthMs / 2, ""] as const) {
    await setClock(at);
    for (const person of [ana, ben, cal]) await renewSession(site, person);
  }
  const confirmByCal = async (url: string) => {
    const path = url.replace(/.*\/v\//, "/api/vouching/");
    expect((await callSite(site, "PUT", path, { token: cal.token })).status).toBe(204);
  };

  const anas = await TestClient.open(browser, server);
  const { page, texts } = anas;
  const words = texts.number.vouching;
  const progress = (confirmed: number) =>
    page.getByText(fill(words.confirmed, { confirmed: String(confirmed), needed: "2" }));
  await page.setViewportSize({ width: 360, height: 740 });
  await anas.signIn(ana, "/app/verify-number");
  const bens = await TestClient.open(browser, server);
  await bens.page.setViewportSize({ width: 360, height: 740 });

  let url = "";
  await test.step("the code is shown", async () => {
    url = await showCode(anas);
    await expect(page.getByRole("heading", { name: texts.number.methods.vouching })).toBeFocused();
    await expect(progress(0)).toBeVisible();
    expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
  });

  await test.step("a contact opens it with the camera of the phone, is asked, and confirms after a lost connection", async () => {
    // Signed out: by the log-in page.
    await bens.page.goto(url);
    await bens.page.waitForURL("**/v/*?visitor");
    expect(await findAxeViolationsInBothThemes(bens.page)).toEqual([]);
    await bens.page.getByRole("link", { name: invitationTexts.fr.login }).click();
    await bens.logIn(ben.phone);
    await bens.page.waitForURL(`**${new URL(url).pathname}`);
    await expect(bens.page.getByRole("heading", { name: ana.username })).toBeVisible();
    await expect(bens.page.getByText(formatPhone(ana.phone))).toBeVisible();
    await expect(bens.page.getByText(words.question)).toBeVisible();
    expect(await findAxeViolationsInBothThemes(bens.page)).toEqual([]);
    const confirm = bens.page.getByRole("button", { name: words.confirm, exact: true });
    await bens.context.setOffline(true);
    await confirm.click();
    await expect(bens.page.getByRole("alert")).toBeVisible();
    await bens.context.setOffline(false);
    await confirm.press("Enter");
    await expect(bens.page.getByRole("status").filter({ hasText: words.thanks })).toBeFocused();
    expect(await findAxeViolationsInBothThemes(bens.page)).toEqual([]);
    await bens.page.reload();
    await expect(bens.page.getByText(words.thanks)).toBeVisible();
  });

  await test.step("the person sees it, also after a reload", async () => {
    await expect(progress(1)).toBeVisible();
    await page.reload();
    await expect(progress(1)).toBeVisible();
    await expect(page.getByRole("img", { name: words.qr })).toBeVisible();
  });

  await test.step("the code and its confirmations outlive a look at the other methods, and are given up only on purpose", async () => {
    const methodButton = (method: "vouching" | "sms_code") =>
      page.getByRole("button", { name: texts.number.methods[method] });
    const started: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/api/number/proofs")) started.push(request.url());
    });
    await page.getByRole("button", { name: texts.number.otherMethod }).press("Enter");
    await expect(page.getByText(texts.number.choose)).toBeFocused();
    await page.reload();
    await methodButton("sms_code").press("Enter");
    const question = page.getByRole("alertdialog", { name: words.restart.title });
    await question.getByRole("button", { name: texts.common.cancel }).press("Enter");
    await methodButton("vouching").press("Enter");
    await expect(page.getByRole("img", { name: words.qr })).toBeVisible();
    await expect(progress(1)).toBeVisible();
    expect(started).toEqual([]);
  });

  await test.step("the person's own code leads back to it", async () => {
    const code = page.getByRole("img", { name: words.qr });
    const shown = await code.getAttribute("src");
    await page.goto(url);
    await expect(page.getByText(words.own)).toBeVisible();
    expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole("link", { name: words.show }).press("Enter");
    await expect(progress(1)).toBeVisible();
    await expect(code).toHaveAttribute("src", shown ?? "");
  });

  await test.step("an ended code offers a new one, after a question", async () => {
    const own = (route: Route, vouching: object | null) =>
      route
        .fetch()
        .then(async (response) => route.fulfill({ response, json: { ...(await response.json()), vouching } }));
    await page.route("**/api/number", (route) => own(route, null));
    await expect(page.getByText(words.expired)).toBeVisible();
    await expect(page.getByRole("button", { name: words.renew })).toBeInViewport();
    await expect(page.getByText(words.body)).toBeHidden();
    expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
    await page.unroute("**/api/number");
    await page.getByRole("button", { name: words.renew }).press("Enter");
    const question = page.getByRole("alertdialog", { name: words.restart.title });
    await question.getByRole("button", { name: texts.common.cancel }).press("Enter");
    await expect(question).toBeHidden();
  });

  await test.step("the second contact confirms, and the number is verified", async () => {
    await confirmByCal(url);
    await setVisibility(anas, "visible");
    await expect(page.getByRole("status").filter({ hasText: words.since.split("{")[0] ?? "" })).toBeFocused();
    // A stronger method is still offered; contacts are not.
    await expect(page.getByText(words.stronger)).toBeVisible();
    await expect(page.getByRole("button", { name: texts.number.methods.sms_code })).toBeVisible();
    await expect(page.getByRole("button", { name: texts.number.methods.vouching })).toHaveCount(0);
    expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
  });

  await test.step("the code is of no more use, and other refusals are explained", async () => {
    await bens.switchLanguage("en");
    const { errors, common } = bens.texts;
    await bens.page.goto(url);
    await expect(bens.page.getByText(errors.vouching_not_found)).toBeVisible();
    for (const code of ["voucher_contact_too_new", "voucher_number_too_new", "vouches_used_up"] as const) {
      await bens.page.route("**/api/vouching/*", (route) =>
        route.fulfill({ status: errorStatus[code], json: { code: errorStatus[code], error_code: code, msg: "" } }),
      );
      await bens.openRoute(`/app/v/${code.padEnd(22, "A")}`);
      await expect(bens.page.getByText(errors[code])).toBeVisible();
      await expect(bens.page.getByRole("button", { name: common.retry })).toHaveCount(0);
      await bens.page.unroute("**/api/vouching/*");
    }
  });

  await test.step("a number that somebody else uses is refused in words of its own", async () => {
    await page.route("**/api/number", async (route) => {
      const response = await route.fetch();
      const refused = { verified_at: null, is_vouched: false, refused_method: "vouching" };
      const vouching = { proof: ana.id, confirmed: 0 };
      await route.fulfill({ response, json: { ...(await response.json()), ...refused, vouching } });
    });
    await page.reload();
    await expect(page.getByRole("alert").filter({ hasText: texts.number.inUse })).toBeVisible();
  });
});
