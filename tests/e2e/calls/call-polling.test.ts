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
} from "#tests/support/browser/call-client.ts";
import { fill } from "#tests/support/browser/test-client.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";

test.use({ actionTimeout: callTimeoutMs });
const patient = expect.configure({ timeout: callTimeoutMs });

test("a caller whose call rings on no device reads that the phone seems asleep, and records a voice message instead; later the person can be called, call, and be heard without a socket", async ({
  browser,
  server,
}) => {
  const { people } = await makePair(toSite(server), 8_360);
  const [ana, ben] = people;
  const anas = await openCallClient(browser, server);
  await anas.signInToChat(ana, ben.id);

  await callButton(anas, ben).click();
  const screen = callScreen(anas, ben);
  const { peerAsleep, peerAsleepRecord } = anas.texts.calls.notice;
  await patient(screen.getByRole("status").filter({ hasText: fill(peerAsleep, { name: ben.username }) })).toBeVisible();
  // Minimised, the call says so in its bar.
  await callControl(anas, "minimise").click();
  const bar = anas.page.getByRole("region", { name: anas.texts.calls.banner });
  await expect(bar.getByRole("button", { name: anas.texts.calls.status.outgoingAsleep })).toBeVisible();
  await bar.getByRole("button", { name: anas.texts.calls.restore }).click();
  await screen.getByRole("button", { name: peerAsleepRecord }).click();
  await patient(screen).toHaveCount(0);
  await patient(anas.page.getByRole("timer")).toContainText("00:0");
  const send = anas.page.getByRole("button", { name: anas.texts.chat.voice.send, exact: true });
  await expect(send).toBeFocused();
  await patient(callEntry(anas, "Vous : Appel audio annulé")).toBeVisible();
  await patient(anas.page.getByRole("timer")).not.toContainText("00:00");
  await send.click();
  await patient(anas.page.getByRole("button", { name: new RegExp(`^${anas.texts.messages.playVoice}`) })).toBeVisible();

  const bens = await openCallClient(browser, server);
  // A middlebox blocks his socket.
  let tried = 0;
  await bens.context.routeWebSocket(/\/api\/socket/, (socket) => {
    tried++;
    void socket.close();
  });
  await bens.signInToChat(ben, ana.id);
  await expect.poll(() => tried).toBeGreaterThanOrEqual(3);

  await callButton(bens, ana).click();
  await patient(callScreen(anas, ben)).toBeVisible();
  await callControl(anas, "accept").click();
  await expectHearing(anas, bens);
  await pauseBetweenTaps(anas);
  await callControl(anas, "hangUp").click();
  for (const [phone, other] of [
    [anas, ben],
    [bens, ana],
  ] as const)
    await patient(callScreen(phone, other)).toHaveCount(0);
  await patient(callEntry(bens, "Vous : Appel audio terminé")).toBeVisible();

  await patient(callButton(anas, ben)).toBeEnabled();
  await callButton(anas, ben).click();
  await patient(callScreen(bens, ana)).toContainText(bens.texts.calls.status.ringingAudio);
  await callControl(bens, "accept").click();
  await expectHearing(anas, bens);
  await pauseBetweenTaps(bens);
  await callControl(bens, "hangUp").click();
  await patient(callScreen(anas, ben)).toHaveCount(0);
  await patient(callEntry(anas, "Vous : Appel audio terminé")).toBeVisible();
  for (const phone of [anas, bens]) await phone.close();
});
