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
import { makePair, toSite } from "#tests/support/people/pair.ts";

test.use({ actionTimeout: callTimeoutMs });
const patient = expect.configure({ timeout: callTimeoutMs });

test("without a socket a person can be called, call, and be heard", async ({ browser, server }) => {
  const { people } = await makePair(toSite(server), 8_360);
  const [ana, ben] = people;
  const anas = await openCallClient(browser, server);
  const bens = await openCallClient(browser, server);
  // A middlebox blocks his socket.
  let tried = 0;
  await bens.context.routeWebSocket(/\/api\/socket/, (socket) => {
    tried++;
    void socket.close();
  });
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signInToChat(ben, ana.id)]);
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
