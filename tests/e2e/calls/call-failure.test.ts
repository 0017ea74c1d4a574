import {
  callButton,
  callControl,
  callEntry,
  callScreen,
  callTimeoutMs,
  openCallClient,
  pauseBetweenTaps,
  placeCall,
} from "#tests/support/browser/call-client.ts";
import { instrumentDevices } from "#tests/support/browser/call-devices.ts";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { type Server, startServer } from "#tests/support/server/server.ts";

test.use({ actionTimeout: callTimeoutMs });
const patient = expect.configure({ timeout: callTimeoutMs });

/**
 * Nothing listens at this address. People who do not know each other yet use the relay only, so no connection is
 * possible here.
 */
const deadRelay = { RELAY: "coturn", TURN_HOST: "127.0.0.1:9", TURN_SECRET: "nobody asks for it" };

let server: Server;
test.beforeAll(async () => {
  server = await startServer({ vars: deadRelay });
});
test.afterAll(() => server.stop());

test("a call that is answered and cannot connect is ended by one side, or fails by itself; both see the same entry", async ({
  browser,
}) => {
  const { people } = await makePair(toSite(server), 8_340);
  const [ana, ben] = people;
  const [anas, bens] = [
    await openCallClient(browser, server),
    await openCallClient(browser, server, { language: "en" }),
  ];
  const both = [
    { phone: anas, other: ben },
    { phone: bens, other: ana },
  ];
  await Promise.all(both.map(({ phone }) => instrumentDevices(phone.page)));
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

  // Answered and ended before any media: neither a completed nor a missed call.
  await callButton(anas, ben).click();
  await callControl(bens, "accept").click();
  await expectConnecting();
  await callControl(anas, "hangUp").click();
  for (const { phone, other } of both) await patient(callScreen(phone, other)).toHaveCount(0);
  for (const { phone, given } of lines) {
    await patient(callEntry(phone, given)).toBeVisible();
    await expect(callEntry(phone, given).locator(".text-danger")).toHaveCount(0);
  }

  await pauseBetweenTaps(bens);

  // Without a connection it fails on both sides, all devices are closed, and the next call can start.
  await placeCall(anas, ben, "video");
  await callControl(bens, "accept").click();
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

  // After a reload the chat contains the same entries.
  for (const isReloaded of [false, true]) {
    if (isReloaded) await Promise.all([anas.openChat(ben.id), bens.openChat(ana.id)]);
    for (const { phone, given, failed } of lines) {
      await patient(callEntry(phone, failed)).toHaveCount(1);
      await expect(callEntry(phone, given)).toHaveCount(1);
      await expect(callEntry(phone, /./)).toHaveCount(2);
    }
  }
  for (const phone of [anas, bens]) await phone.close();
});
