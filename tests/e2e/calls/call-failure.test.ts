import { watchDevicesOf } from "#tests/support/browser/call-devices.ts";
import {
  asFingersDo,
  callButton,
  callLine,
  callScreen,
  control,
  openCalling,
  patienceMs,
  placeCall,
} from "#tests/support/browser/calling.ts";
import { expect, test } from "#tests/support/browser/tidy-test.ts";
import { makeCouple, siteOf } from "#tests/support/people/pair.ts";
import { type Server, startServer } from "#tests/support/server/server.ts";

test.use({ actionTimeout: patienceMs });
const patient = expect.configure({ timeout: patienceMs });

/** Where nothing listens. People who are new to each other talk by a relay alone, so here no way is ever found. */
const deadRelay = { RELAY: "coturn", TURN_HOST: "127.0.0.1:9", TURN_SECRET: "nobody asks for it" };

let server: Server;
test.beforeAll(async () => {
  server = await startServer({ vars: deadRelay });
});
test.afterAll(() => server.stop());

test("a call that was taken and finds no way is given up by one of them, or fails by itself; both read the same of it", async ({
  browser,
}) => {
  const { people } = await makeCouple(siteOf(server), 8_340);
  const [ana, ben] = people;
  const [anas, bens] = [await openCalling(browser, server), await openCalling(browser, server, { language: "en" })];
  const both = [
    { phone: anas, other: ben },
    { phone: bens, other: ana },
  ];
  await Promise.all(both.map(({ phone }) => watchDevicesOf(phone.page)));
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signInToChat(ben, ana.id)]);
  const lines = [
    { phone: anas, given: "Vous : Appel audio annulé", failed: "Vous : Appel vidéo : échec" },
    { phone: bens, given: `${ana.username}: Cancelled audio call`, failed: `${ana.username}: Video call failed` },
  ];
  const expectConnecting = () =>
    Promise.all(
      both.map(({ phone, other }) =>
        patient(callScreen(phone, other)).toContainText(phone.texts.calls.status.connecting),
      ),
    );

  // Taken, and given up before anything is heard: no call that was talked, and none that was missed.
  await callButton(anas, ben).click();
  await control(bens, "accept").click();
  await expectConnecting();
  await control(anas, "hangUp").click();
  for (const { phone, other } of both) await patient(callScreen(phone, other)).toHaveCount(0);
  for (const { phone, given } of lines) {
    await patient(callLine(phone, given)).toBeVisible();
    await expect(callLine(phone, given).locator(".text-danger")).toHaveCount(0);
  }

  await asFingersDo(bens);

  // Left alone it says on both sides that it failed, keeps nothing of either phone, and the next call can be begun.
  await placeCall(anas, ben, "video");
  await control(bens, "accept").click();
  const from = Date.now();
  await expectConnecting();
  await Promise.all(
    both.map(({ phone }) => patient(phone.page.getByText(phone.texts.calls.say.failedBody)).toBeVisible()),
  );
  test.info().annotations.push({ type: "taken to failed, ms", description: `${Date.now() - from}` });
  for (const { phone, other } of both) {
    await expect(callScreen(phone, other)).toHaveCount(0);
    const open = () => phone.page.evaluate(() => [window.devices.open("audio"), window.devices.open("video")].flat());
    await expect.poll(open).toEqual([]);
    await expect(callButton(phone, other)).toBeEnabled();
  }

  // What stands in the chat is what stands there when the page is loaded anew.
  for (const isReloaded of [false, true]) {
    if (isReloaded) await Promise.all([anas.openChat(ben.id), bens.openChat(ana.id)]);
    for (const { phone, given, failed } of lines) {
      await patient(callLine(phone, failed)).toHaveCount(1);
      await expect(callLine(phone, given)).toHaveCount(1);
      await expect(callLine(phone, /./)).toHaveCount(2);
    }
  }
  for (const phone of [anas, bens]) await phone.close();
});
