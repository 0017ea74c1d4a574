import { createHmac } from "node:crypto";
import * as v from "valibot";
import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { test as base, expect } from "#tests/support/browser/closing-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson, phoneOf } from "#tests/support/people/people.ts";
import { cheapWork, type Server, startServer } from "#tests/support/server/server.ts";

const sms = { id: "sms", method: "sms_code", prefixes: ["+243"], per_day: 1_000, url: "local:sms", body: "{{text}}" };
const whatsappCode = { ...sms, id: "wa", method: "whatsapp_code" };
const calledNumber = "+243810000098";
const bip = {
  id: "bip",
  method: "missed_call",
  prefixes: ["+243"],
  per_day: 1_000,
  numbers: [calledNumber],
  secret: "voice",
};
const whatsapp = {
  id: "wa-in",
  method: "whatsapp_message",
  prefixes: ["+243"],
  per_day: 1_000,
  number: "+243810000099",
  app_secret: "meta",
  verify_token: "handshake",
};
const metaSecret = "meta-secret";
const voiceSecret = "voice-secret";
const proofs = {
  NUMBER_PROOFS: JSON.stringify([whatsapp, bip, whatsappCode, sms]),
  NUMBER_PROOF_SECRETS: JSON.stringify({ meta: metaSecret, handshake: "shake", voice: voiceSecret }),
};

/** A server whose operator lets people verify numbers. Its messages are shown at /dev/sms. */
const test = base.extend<{ server: Server }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern.
  server: async ({}, use) => {
    const server = await startServer({ vars: { ...cheapWork, ...proofs } });
    await use(server);
    await server.stop();
  },
});

const Messages = v.array(v.object({ to: v.string(), text: v.string() }));
const readCode = async (origin: string, phone: string): Promise<string> => {
  const answer = await fetch(`${origin}/dev/sms`, { headers: { accept: "application/json" } });
  const message = v.parse(Messages, await answer.json()).find(({ to }) => to === phone);
  return /\d{6}/.exec(message?.text ?? "")?.[0] ?? "";
};

/** Meta's webhook about a message that somebody sent to the operator's number. */
const postMessage = async (origin: string, from: string, text: string): Promise<number> => {
  const sent = { from: from.slice(1), id: "wamid.1", timestamp: String(Math.floor(Date.now() / 1_000)), type: "text" };
  const value = { messaging_product: "whatsapp", messages: [{ ...sent, text: { body: text } }] };
  const entry = [{ id: "1", changes: [{ field: "messages", value }] }];
  const body = JSON.stringify({ object: "whatsapp_business_account", entry });
  const signature = `sha256=${createHmac("sha256", metaSecret).update(body).digest("hex")}`;
  const headers = { "content-type": "application/json", "x-hub-signature-256": signature };
  return (await fetch(`${origin}/api/number/webhooks/wa-in`, { method: "POST", headers, body })).status;
};

/** The operator's webhook about an unanswered call to its number. */
const postCall = async (origin: string, from: string): Promise<number> => {
  const seconds = Math.floor(Date.now() / 1_000);
  const body = JSON.stringify({ from, to: calledNumber, started_at: seconds });
  const signature = createHmac("sha256", voiceSecret).update(`${seconds}.${body}`).digest("hex");
  const headers = { "content-type": "application/json", "x-lisolo-signature": `t=${seconds},v1=${signature}` };
  return (await fetch(`${origin}/api/number/webhooks/bip`, { method: "POST", headers, body })).status;
};

/** Verifies a number by a code on the page of the own number. */
const verify = async (
  { page, texts }: TestClient,
  server: Server,
  phone: string,
  method: "sms_code" | "whatsapp_code" = "sms_code",
): Promise<void> => {
  await page.getByRole("button", { name: texts.number.methods[method] }).click();
  await page.getByLabel(texts.number.code, { exact: true }).fill(await readCode(server.origin, phone));
  await expect(page.getByRole("link", { name: texts.number.done })).toBeVisible();
};

test("the owner registers a squatted number and verifies it; the former holder keeps the account and changes the number", async ({
  browser,
  server,
}) => {
  test.setTimeout(180_000);
  const site = toSite(server);
  const [holder, ben] = [await makePerson(site, 9_871), await makePerson(site, 9_872)];
  await connectPeople(site, holder, ben);
  const [owners, holders, bens] = [
    await TestClient.open(browser, server),
    await TestClient.open(browser, server, "en"),
    await TestClient.open(browser, server, "pt"),
  ];
  const { page } = bens;
  await page.setViewportSize({ width: 360, height: 740 });
  await holders.signIn(holder);
  await bens.signInToChat(ben, holder.id);
  await bens.composer().fill("Mbote na yo");

  await test.step("the owner registers and verifies the number, and nothing tells that somebody has it", async () => {
    await owners.register("Mokonzi ya solo", holder.phone);
    // The test's server has raised limits, under which nobody is limited.
    await owners.page.route("**/api/allowance", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), can_verify: true } });
    });
    await owners.goTo("/app/verify-number");
    await expect(owners.page.getByText(owners.texts.number.reach)).toBeVisible();
    await expect(owners.page.getByText(owners.texts.people.unverified, { exact: true })).toBeVisible();
    await owners.page.route("**/api/number/proofs", (route) =>
      route.fulfill({ status: 429, json: { code: 429, error_code: "number_proofs_used_up", msg: "" } }),
    );
    await owners.page.getByRole("button", { name: owners.texts.number.methods.sms_code }).click();
    await expect(owners.page.getByRole("alert")).toHaveText(owners.texts.number.usedUp);
    await owners.page.unroute("**/api/number/proofs");
    // The message is sent while the page is closed, and its webhook arrives once it is open again.
    await owners.page.getByRole("button", { name: owners.texts.number.methods.whatsapp_message }).click();
    const token = (await owners.page.getByText(/^LISOLO-/).textContent()) ?? "";
    await owners.page.reload();
    await expect(owners.page.getByText(token)).toBeVisible();
    expect(await postMessage(server.origin, holder.phone, token)).toBe(204);
    await expect(owners.page.getByRole("link", { name: owners.texts.number.done })).toBeVisible();
  });

  await test.step("the former holder is informed and finds the handle", async () => {
    const { texts } = holders;
    const notice = holders.page.getByRole("region", { name: texts.security.notices.title });
    await expect(notice).toContainText(texts.security.notices.events.number_lost);
    await holders.page.setViewportSize({ width: 360, height: 740 });
    await notice.getByRole("link", { name: texts.number.title }).click();
    await expect(holders.page.getByText(texts.number.none)).toBeVisible();
    await expect(holders.page.getByText(/@u[a-z2-9]{9}/)).toBeVisible();
    expect(await findAxeViolationsInBothThemes(holders.page)).toEqual([]);
    await holders.goTo("/app/profile");
    await expect(holders.page.getByRole("link", { name: texts.number.title })).toContainText(/@u[a-z2-9]{9}/);
    await holders.goTo("/app/verify-number");
  });

  await test.step("a contact confirms before writing or calling, and what they typed is kept", async () => {
    const { texts } = bens;
    const warning = page.getByText(fill(texts.number.notice.left, { name: holder.username }));
    await expect(warning).toBeVisible();
    await expect(bens.composer()).toHaveCount(0);
    await expect(page.getByText("Mbote na yo")).toBeVisible();
    expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
    await page.getByRole("button", { name: fill(texts.people.audioCallName, { name: holder.username }) }).click();
    const question = page
      .locator("[data-toast]")
      .filter({ hasText: fill(texts.number.notice.left, { name: holder.username }) });
    await expect(question.getByRole("button", { name: texts.number.notice.confirm })).toBeVisible();
    await bens.goTo("/app/contacts");
    await expect(page.getByText(texts.number.notice.hint)).toBeVisible();
    await bens.goTo(`/app/chat/${holder.id}`);
    await page.reload();
    await expect(warning).toBeVisible();
    await expect(bens.composer()).toHaveCount(0);
    const confirm = page.getByRole("button", { name: texts.number.notice.confirm });
    await page.context().setOffline(true);
    await confirm.click();
    await expect(page.getByText(texts.number.notice.confirmFailed)).toBeVisible();
    await page.context().setOffline(false);
    const other = await bens.context.newPage();
    await bens.goTo(`/app/chat/${holder.id}`, other);
    await other.getByRole("button", { name: fill(texts.people.audioCallName, { name: holder.username }) }).click();
    await other.locator("[data-toast]").getByRole("button", { name: texts.number.notice.confirm }).press("Enter");
    await other.getByRole("button", { name: texts.calls.hangUp }).click();
    await expect(bens.composer()).toHaveValue("Mbote na yo");
    await expect(bens.composer(other)).toBeVisible();
    await other.close();
    await bens.composer().press("Enter");
    await expect(bens.ticks("Mbote na yo", "delivered")).toBeVisible();
  });

  await test.step("the former holder verifies another number by a call, and the contact reads that it changed", async () => {
    const { texts } = holders;
    const field = holders.page.getByLabel(texts.number.new, { exact: true });
    await field.fill("12");
    await field.press("Enter");
    await expect(field).toHaveAccessibleDescription(texts.number.newMissing);
    await field.fill(phoneOf(9_874));
    await field.press("Enter");
    await expect(holders.page.getByText(texts.number.choose)).toBeFocused();
    await holders.page.getByRole("button", { name: texts.number.correct }).click();
    await expect(field).toBeFocused();
    await expect(field).toHaveValue(phoneOf(9_874));
    await field.fill(phoneOf(9_873));
    await field.press("Enter");
    await holders.page.getByRole("button", { name: texts.number.methods.missed_call }).click();
    await expect(holders.page.getByText(calledNumber)).toBeVisible();
    expect(await postCall(server.origin, phoneOf(9_873))).toBe(204);
    await expect(holders.page.getByRole("link", { name: texts.number.done })).toBeVisible();
    await expect(holders.page.getByText(phoneOf(9_873))).toBeVisible();
    await expect(page.getByText(fill(bens.texts.number.notice.changed, { name: holder.username }))).toBeVisible();
    await expect(bens.composer()).toBeVisible();
    await page.getByRole("button", { name: bens.texts.number.notice.understood }).click();
    await expect(page.getByRole("button", { name: bens.texts.number.notice.understood })).toHaveCount(0);
  });

  await test.step("the contact verifies their own number by a code in WhatsApp", async () => {
    await bens.goTo("/app/verify-number");
    await verify(bens, server, ben.phone, "whatsapp_code");
  });
});
