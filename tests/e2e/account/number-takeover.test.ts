import { createHmac } from "node:crypto";
import * as v from "valibot";
import { OwnInvitation } from "#contract/names/invitation.ts";
import { formatPhone } from "#contract/phone/phone-text.ts";
import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { test as base, expect } from "#tests/support/browser/closing-test.ts";
import { fill, findToast, TestClient } from "#tests/support/browser/test-client.ts";
import { setVisibility } from "#tests/support/browser/visibility.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, phoneOf } from "#tests/support/people/people.ts";
import { cheapWork, type Server, startServer } from "#tests/support/server/server.ts";
import { invitationTexts } from "#worker/service/invitation-texts.ts";

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

/** Chooses another number on the page of the own number. */
const typeNewNumber = async ({ page, texts }: TestClient, phone: string): Promise<void> => {
  const field = page.getByLabel(texts.number.new, { exact: true });
  await field.fill(phone);
  await field.press("Enter");
};

test("a newcomer takes over a squatted number; its former holder and a contact are informed", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ben = await makePerson(site, 9_872);
  const { invitation } = v.parse(
    OwnInvitation,
    (await callSite(site, "POST", "/api/invitation", { token: ben.token })).body,
  );
  const url = invitation?.url ?? "";
  const bens = await TestClient.open(browser, server);
  const { page } = bens;
  await page.setViewportSize({ width: 360, height: 740 });

  const [squatted, changedTo, movedTo] = [9_780, 9_781, 9_782];
  const holder = await makePerson(site, squatted);
  await connectPeople(site, holder, ben);
  const owners = await TestClient.open(browser, server);
  const holders = await TestClient.open(browser, server);
  const { texts } = owners;
  await holders.signIn(holder);
  await bens.signInToChat(ben, holder.id);
  await bens.composer().fill("Mbote na yo");

  await test.step("the owner registers by an invitation, and nothing tells that somebody has the number", async () => {
    const words = invitationTexts.fr;
    await owners.page.goto(url);
    await expect(owners.page.getByRole("heading")).toHaveText(words.invites.join(ben.username));
    await owners.page.getByRole("button", { name: words.register }).click();
    await owners.page.waitForURL("**/register");
    await owners.register("Mokonzi ya solo", holder.phone);
    await owners.page.waitForURL(`**/app/chat/${ben.id}`);
    await expect(findToast(owners.page)).toContainText(texts.invite.accepted.split("{name}")[1] ?? "");
  });

  await test.step("the owner writes without verification", async () => {
    await owners.write("Mbote");
    await expect(owners.ticks("Mbote", "delivered")).toBeVisible();
    // The test's server has raised limits, under which nobody is limited.
    await owners.page.route("**/api/allowance", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), can_verify: true } });
    });
    await owners.openRoute("/app/verify-number");
    await expect(owners.page.getByText(texts.number.reach)).toBeVisible();
    await expect(owners.page.getByText(texts.people.unverified, { exact: true })).toBeVisible();
    await expect(owners.page.getByRole("link", { name: texts.number.later })).toBeVisible();
  });

  await test.step("the owner verifies the number by a message", async () => {
    await owners.page.route("**/api/number/proofs", (route) =>
      route.fulfill({ status: 429, json: { code: 429, error_code: "number_proofs_used_up", msg: "" } }),
    );
    await owners.page.getByRole("button", { name: texts.number.methods.sms_code }).click();
    await expect(owners.page.getByRole("alert")).toHaveText(texts.number.usedUp);
    await owners.page.unroute("**/api/number/proofs");
    await owners.page.getByRole("button", { name: texts.number.methods.whatsapp_message }).click();
    await expect(owners.page.getByText(texts.number.waitingForMessage)).toBeVisible();
    const token = (await owners.page.getByText(/^LISOLO-/).textContent()) ?? "";
    // The message is sent while the page is closed, and its webhook arrives once it is open again.
    await owners.page.reload();
    await expect(owners.page.getByText(token)).toBeVisible();
    expect(await postMessage(server.origin, holder.phone, token)).toBe(204);
    await expect(owners.page.getByRole("link", { name: texts.number.done })).toBeVisible();
  });

  await test.step("the former holder is informed and finds the handle", async () => {
    const notice = holders.page.getByRole("region", { name: texts.security.notices.title });
    await expect(notice).toContainText(texts.security.notices.events.number_lost);
    await holders.page.setViewportSize({ width: 360, height: 740 });
    await notice.getByRole("link", { name: texts.number.title }).click();
    await expect(holders.page.getByText(texts.number.none)).toBeVisible();
    const [handle = ""] =
      /@u[a-z2-9]{9}/.exec((await holders.page.getByText(/@u[a-z2-9]{9}/).textContent()) ?? "") ?? [];
    await expect(holders.page.getByText(fill(texts.number.lost, { handle: handle.slice(1) }))).toBeVisible();
    expect(await findAxeViolationsInBothThemes(holders.page)).toEqual([]);
    await holders.openRoute("/app/profile");
    await expect(holders.page.getByRole("link", { name: texts.number.title })).toContainText(handle);
    await holders.openRoute("/app/verify-number");
  });

  await test.step("a contact confirms before writing or calling, and what they typed is kept", async () => {
    const confirm = page.getByRole("button", { name: texts.number.notice.confirm });
    const warningText = fill(texts.number.notice.left, { name: holder.username });
    const warning = page.getByText(warningText);
    await expect(warning).toBeVisible();
    await expect(bens.composer()).toHaveCount(0);
    await expect(page.getByText("Mbote na yo")).toBeVisible();
    expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
    const call = { name: fill(texts.people.audioCallName, { name: holder.username }) };
    await page.getByRole("button", call).click();
    const question = page.locator("[data-toast]").filter({ hasText: warningText });
    await expect(question.getByRole("button", { name: texts.number.notice.confirm })).toBeVisible();
    // All of it is readable on a small phone.
    expect(await question.evaluate((card) => card.scrollHeight - card.clientHeight)).toBe(0);
    await bens.openRoute("/app/contacts");
    await expect(page.getByText(texts.number.notice.hint)).toBeVisible();
    await bens.openRoute(`/app/chat/${holder.id}`);
    await page.reload();
    await expect(warning).toBeVisible();
    await expect(bens.composer()).toHaveCount(0);
    await page.context().setOffline(true);
    await confirm.click();
    await expect(page.getByText(texts.number.notice.confirmFailed)).toBeVisible();
    await page.context().setOffline(false);
    const other = await bens.context.newPage();
    await bens.goTo(`/app/chat/${holder.id}`, other);
    await other.getByRole("button", call).click();
    await other.locator("[data-toast]").getByRole("button", { name: texts.number.notice.confirm }).press("Enter");
    await other.getByRole("button", { name: texts.calls.hangUp }).click();
    await expect(bens.composer()).toHaveValue("Mbote na yo");
    await expect(bens.composer(other)).toBeVisible();
    await other.close();
    await bens.composer().press("Enter");
    await expect(bens.ticks("Mbote na yo", "delivered")).toBeVisible();
  });

  await test.step("the former holder verifies another number by a code in WhatsApp, and the contact reads that it changed", async () => {
    const field = holders.page.getByLabel(texts.number.new, { exact: true });
    await typeNewNumber(holders, "12");
    await expect(field).toHaveAccessibleDescription(texts.number.newMissing);
    await typeNewNumber(holders, phoneOf(9_874));
    await expect(holders.page.getByText(texts.number.choose)).toBeFocused();
    await holders.page.getByRole("button", { name: texts.number.correct }).click();
    await expect(field).toBeFocused();
    await expect(field).toHaveValue(phoneOf(9_874));
    await typeNewNumber(holders, phoneOf(movedTo));
    await holders.page.getByRole("button", { name: texts.number.methods.whatsapp_code }).click();
    const code = holders.page.getByLabel(texts.number.code, { exact: true });
    await expect(
      holders.page.getByText(fill(texts.number.codeSent, { phone: formatPhone(phoneOf(movedTo)) })),
    ).toBeVisible();
    await code.fill(await readCode(server.origin, phoneOf(movedTo)));
    await expect(holders.page.getByRole("link", { name: texts.number.done })).toBeVisible();
    await expect(page.getByText(fill(texts.number.notice.changed, { name: holder.username }))).toBeVisible();
    await expect(bens.composer()).toBeVisible();
    const understood = page.getByRole("button", { name: texts.number.notice.understood });
    await understood.click();
    await expect(understood).toHaveCount(0);
  });

  await test.step("the owner changes the number by a call", async () => {
    await owners.page.getByRole("button", { name: texts.number.change }).click();
    await expect(owners.page.getByText(texts.number.changeBody)).toBeVisible();
    await typeNewNumber(owners, phoneOf(changedTo));
    await owners.page.getByRole("button", { name: texts.number.methods.missed_call }).click();
    await expect(owners.page.getByText(formatPhone(calledNumber))).toBeVisible();
    await expect(owners.page.getByText(texts.number.waitingForCall)).toBeVisible();
    expect(await postCall(server.origin, phoneOf(changedTo))).toBe(204);
    await setVisibility(owners, "visible");
    await expect(owners.page.getByText(formatPhone(phoneOf(changedTo)))).toBeVisible();
    await expect(owners.page.getByRole("link", { name: texts.number.done })).toBeVisible();
  });
  await owners.close();
  await holders.close();
});
