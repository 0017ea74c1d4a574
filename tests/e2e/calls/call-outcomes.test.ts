import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  callButton,
  callControl,
  callEntry,
  callScreen,
  callTimeoutMs,
  expectHearing,
  openCallClient,
  pauseBetweenTaps,
  placeCall,
} from "#tests/support/browser/call-client.ts";
import { fill, type TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, signInAgain } from "#tests/support/people/people.ts";

test.use({ actionTimeout: callTimeoutMs });
const patient = expect.configure({ timeout: callTimeoutMs });

test("a call ends with its result: unanswered, busy, cancelled, declined, answered elsewhere, or two callers at once", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cleo, dido] = [
    await makePerson(site, 8_210, "Ana"),
    await makePerson(site, 8_211, "Ben"),
    await makePerson(site, 8_212, "Cléo"),
    await makePerson(site, 8_213, "Dido"),
  ];
  for (const [from, to] of [
    [ana, ben],
    [cleo, ben],
    [cleo, dido],
  ] as const)
    await connectPeople(site, from, to);
  const [anas, bens, cleos, didos, tablet] = [
    await openCallClient(browser, server),
    await openCallClient(browser, server, { language: "en" }),
    await openCallClient(browser, server),
    await openCallClient(browser, server),
    await openCallClient(browser, server, { language: "en", isRefused: true }),
  ];
  // One after the other: five windows at once take a busy machine longer than the timeout of a chat.
  await anas.signInToChat(ana, ben.id);
  await didos.signInToChat(dido, cleo.id);
  await bens.signIn(ben);
  await cleos.signIn(cleo, "/app/makutano");
  await tablet.signIn(await signInAgain(site, dido));
  const { texts } = cleos;
  const { say, status, elsewhere, notice } = texts.calls;
  const toast = ({ page }: TestClient, words: string) => page.getByText(words, { exact: true });

  // Nobody answers Ana's call; meanwhile Ben is busy for everybody else, without a sound.
  await callButton(anas, ben).click();
  await patient(callScreen(bens, ana)).toContainText(bens.texts.calls.status.ringingAudio);
  const unanswered = expect(toast(anas, say.unanswered)).toBeVisible({ timeout: 3 * callTimeoutMs });
  unanswered.catch(() => undefined); // awaited at the end
  await Promise.all([patient(toast(cleos, say.busy)).toBeVisible(), callButton(cleos, ben).click()]);
  await expect(callScreen(bens, cleo)).toHaveCount(0);
  await expect(callScreen(bens, ana)).toBeVisible();

  // Cancelled before it was answered: a missed call on both of Dido's devices, which can be returned as an audio call.
  await cleos.openChat(dido.id);
  await callButton(cleos, dido).click();
  for (const phone of [didos, tablet]) await patient(callControl(phone, "accept")).toBeVisible();
  await callControl(cleos, "hangUp").click();
  for (const phone of [didos, tablet]) await patient(callControl(phone, "accept")).toHaveCount(0);
  await patient(callEntry(cleos, "Vous : Appel audio annulé")).toBeVisible();
  await patient(callEntry(didos, "Cléo : Appel audio manqué").locator(".text-danger").first()).toBeVisible();
  await expect(didos.page.getByRole("button", { name: texts.callLines.speak })).toBeVisible();

  // Declined on one device, it stops ringing on the other.
  await placeCall(cleos, dido, "video");
  await patient(callScreen(didos, cleo)).toContainText(status.ringingVideo);
  await Promise.all([patient(toast(cleos, say.rejected)).toBeVisible(), callControl(tablet, "decline").click()]);
  await patient(callScreen(didos, cleo)).toHaveCount(0);
  await patient(callEntry(cleos, "Vous : Appel vidéo refusé par Dido")).toBeVisible();
  await patient(callEntry(didos, "Cléo : Appel vidéo refusé")).toBeVisible();

  // Answered on one device, the other says so. It is answered even without a microphone.
  await callButton(cleos, dido).click();
  await patient(callControl(didos, "accept")).toBeVisible();
  await Promise.all([patient(toast(didos, elsewhere)).toBeVisible(), callControl(tablet, "accept").click()]);
  await expect(callScreen(didos, cleo)).toHaveCount(0);
  await expectHearing(tablet);
  await patient(callScreen(tablet, cleo)).toContainText(tablet.texts.calls.notice.micRefused);
  // The browser does not list forbidden devices, which is different from having none.
  await tablet.page.evaluate(() => {
    navigator.mediaDevices.enumerateDevices = async () => [];
  });
  const { devices, notice: tabletNotices } = tablet.texts.calls;
  await tablet.page.getByRole("button", { name: devices.openAudio }).click();
  await expect(tablet.page.getByRole("dialog", { name: devices.titleAudio })).toContainText(tabletNotices.micRefused);
  await tablet.page.keyboard.press("Escape");
  await patient(callScreen(cleos, dido)).toContainText(fill(notice.peerNoMic, { name: "Dido" }));
  await expect(callButton(didos, cleo)).toBeEnabled(); // the output next to her microphone would echo
  await pauseBetweenTaps(tablet);
  await callControl(tablet, "hangUp").click();
  await patient(callEntry(cleos, "Vous : Appel audio terminé")).toBeVisible();

  // Both call each other at the same moment: they are connected in one call.
  const lines = callEntry(cleos, /Appel (audio|vidéo)/);
  const before = await lines.count();
  const both = [callButton(cleos, dido), callButton(didos, cleo)];
  for (const button of both) await patient(button).toBeEnabled();
  const at = Date.now() + 300;
  const press = (button: HTMLElement, at: number) => setTimeout(() => button.click(), at - Date.now());
  await Promise.all(both.map((button) => button.evaluate(press, at)));
  // On a busy machine one rings before the other dials.
  for (const phone of [cleos, didos]) {
    void callControl(phone, "accept")
      .click()
      .catch(() => undefined);
  }
  await expectHearing(cleos, didos);
  await patient(callScreen(tablet, cleo)).toHaveCount(0);
  await pauseBetweenTaps(didos);
  await callControl(didos, "hangUp").click();
  await patient(lines).toHaveCount(before + 1);
  for (const phone of [cleos, didos, tablet])
    await patient(callScreen(phone, phone === cleos ? dido : cleo)).toHaveCount(0);

  // A person with only a pending request cannot be called.
  await callSite(site, "POST", "/api/requests", { token: dido.token, body: { to_user_id: ana.id } });
  await tablet.openRoute(`/app/user/${ana.id}`);
  await tablet.page.getByRole("button", { name: tablet.texts.people.audioCall, exact: true }).click();
  await patient(toast(tablet, tablet.texts.people.notConnectedTitle)).toBeVisible();

  // Ana is told that nobody answered, and Ben which calls he missed: each caller once.
  await unanswered;
  await expect(callScreen(anas, ben)).toHaveCount(0);
  await patient(callEntry(anas, "Vous : Appel audio sans réponse")).toHaveCount(1);
  await expect(callScreen(bens, ana)).toHaveCount(0);
  for (const { username } of [ana, cleo]) {
    await patient(bens.conversation(username)).toContainText("Missed audio call");
    await expect(bens.conversation(username)).toContainText(fill(bens.texts.masolo.unread_one, { count: 1 }));
  }
  for (const phone of [anas, bens, cleos, didos, tablet]) await phone.close();
});
