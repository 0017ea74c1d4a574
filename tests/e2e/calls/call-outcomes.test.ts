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
import { instrumentDevices } from "#tests/support/browser/call-devices.ts";
import { fill, type TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

test.use({ actionTimeout: callTimeoutMs });
const patient = expect.configure({ timeout: callTimeoutMs });

test("a call ends with its result: unanswered, busy, cancelled, declined, answered without a microphone, or two callers at once", async ({
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
  const [anas, bens, cleos, didos] = [
    await openCallClient(browser, server),
    await openCallClient(browser, server, { language: "en" }),
    await openCallClient(browser, server),
    await openCallClient(browser, server),
  ];
  await instrumentDevices(didos.page);
  // One after the other: four windows at once take a busy machine longer than the timeout of a chat.
  await anas.signInToChat(ana, ben.id);
  await didos.signInToChat(dido, cleo.id);
  await bens.signIn(ben);
  await cleos.signIn(cleo, "/app/makutano");
  const { texts } = cleos;
  const { say, status, devices, notice } = texts.calls;
  const toast = ({ page }: TestClient, words: string) => page.getByText(words, { exact: true });

  // Nobody answers Ana's call; meanwhile Ben is busy for everybody else, without a sound.
  await callButton(anas, ben).click();
  await patient(callScreen(bens, ana)).toContainText(bens.texts.calls.status.ringingAudio);
  const unanswered = expect(toast(anas, say.unanswered)).toBeVisible({ timeout: 3 * callTimeoutMs });
  unanswered.catch(() => undefined); // awaited at the end
  await Promise.all([patient(toast(cleos, say.busy)).toBeVisible(), callButton(cleos, ben).click()]);
  await expect(callScreen(bens, cleo)).toHaveCount(0);
  await expect(callScreen(bens, ana)).toBeVisible();

  // Cancelled before it was answered: Dido has a missed call, which can be returned as an audio call.
  await cleos.openChat(dido.id);
  await callButton(cleos, dido).click();
  await patient(callControl(didos, "accept")).toBeVisible();
  await callControl(cleos, "hangUp").click();
  await patient(callControl(didos, "accept")).toHaveCount(0);
  await patient(callEntry(cleos, "Vous : Appel audio annulé")).toBeVisible();
  await patient(callEntry(didos, "Cléo : Appel audio manqué").locator(".text-danger").first()).toBeVisible();
  await expect(didos.page.getByRole("button", { name: texts.callLines.speak })).toBeVisible();

  // Declined.
  await placeCall(cleos, dido, "video");
  await patient(callScreen(didos, cleo)).toContainText(status.ringingVideo);
  await Promise.all([patient(toast(cleos, say.rejected)).toBeVisible(), callControl(didos, "decline").click()]);
  await patient(callScreen(didos, cleo)).toHaveCount(0);
  await patient(callEntry(cleos, "Vous : Appel vidéo refusé par Dido")).toBeVisible();
  await patient(callEntry(didos, "Cléo : Appel vidéo refusé")).toBeVisible();

  // A call is answered even without a microphone.
  await callButton(cleos, dido).click();
  await didos.page.evaluate(() => {
    window.devices.refused.audio = "NotAllowedError";
  });
  await callControl(didos, "accept").click();
  await expectHearing(didos);
  await patient(callScreen(didos, cleo)).toContainText(notice.micRefused);
  // The browser does not list forbidden devices, which is different from having none.
  await didos.page.evaluate(() => {
    navigator.mediaDevices.enumerateDevices = async () => [];
  });
  await didos.page.getByRole("button", { name: devices.openAudio }).click();
  await expect(didos.page.getByRole("dialog", { name: devices.titleAudio })).toContainText(notice.micRefused);
  await didos.page.keyboard.press("Escape");
  await patient(callScreen(cleos, dido)).toContainText(fill(notice.peerNoMic, { name: "Dido" }));
  await pauseBetweenTaps(didos);
  await callControl(didos, "hangUp").click();
  await patient(callEntry(cleos, "Vous : Appel audio terminé")).toBeVisible();
  await didos.page.evaluate(() => {
    delete window.devices.refused.audio;
  });

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
  await pauseBetweenTaps(didos);
  await callControl(didos, "hangUp").click();
  await patient(lines).toHaveCount(before + 1);
  await patient(callScreen(cleos, dido)).toHaveCount(0);
  await patient(callScreen(didos, cleo)).toHaveCount(0);

  // A person with only a pending request cannot be called.
  await callSite(site, "POST", "/api/requests", { token: dido.token, body: { to_user_id: ana.id } });
  await didos.openRoute(`/app/user/${ana.id}`);
  await didos.page.getByRole("button", { name: didos.texts.people.audioCall, exact: true }).click();
  await patient(toast(didos, didos.texts.people.notConnectedTitle)).toBeVisible();

  // Ana is told that nobody answered, and Ben which calls he missed: each caller once.
  await unanswered;
  await expect(callScreen(anas, ben)).toHaveCount(0);
  await patient(callEntry(anas, "Vous : Appel audio sans réponse")).toHaveCount(1);
  await expect(callScreen(bens, ana)).toHaveCount(0);
  for (const { username } of [ana, cleo]) {
    await patient(bens.conversation(username)).toContainText("Missed audio call");
    await expect(bens.conversation(username)).toContainText(fill(bens.texts.masolo.unread_one, { count: 1 }));
  }
  for (const phone of [anas, bens, cleos, didos]) await phone.close();
});
