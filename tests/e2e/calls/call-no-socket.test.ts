import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  asFingersDo,
  callButton,
  callLine,
  callScreen,
  control,
  expectHearing,
  openCalling,
  patienceMs,
} from "#tests/support/browser/calling.ts";
import { makeCouple, siteOf } from "#tests/support/people/pair.ts";

test.use({ actionTimeout: patienceMs });
const patient = expect.configure({ timeout: patienceMs });

test("where no socket can be had, one is called, calls, and is heard all the same", async ({ browser, server }) => {
  const { people } = await makeCouple(siteOf(server), 8_360);
  const [ana, ben] = people;
  const anas = await openCalling(browser, server);
  const bens = await openCalling(browser, server);
  // Something between him and the server lets no socket through.
  let tried = 0;
  await bens.context.routeWebSocket(/\/api\/socket/, (socket) => {
    tried++;
    void socket.close();
  });
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signInToChat(ben, ana.id)]);
  await expect.poll(() => tried).toBeGreaterThanOrEqual(3);

  await callButton(bens, ana).click();
  await patient(callScreen(anas, ben)).toBeVisible();
  await control(anas, "accept").click();
  await expectHearing(anas, bens);
  await asFingersDo(anas);
  await control(anas, "hangUp").click();
  for (const [phone, other] of [
    [anas, ben],
    [bens, ana],
  ] as const)
    await patient(callScreen(phone, other)).toHaveCount(0);
  await patient(callLine(bens, "Vous : Appel audio terminé")).toBeVisible();

  await patient(callButton(anas, ben)).toBeEnabled();
  await callButton(anas, ben).click();
  await patient(callScreen(bens, ana)).toContainText(bens.texts.calls.status.ringingAudio);
  await control(bens, "accept").click();
  await expectHearing(anas, bens);
  await asFingersDo(bens);
  await control(bens, "hangUp").click();
  await patient(callScreen(anas, ben)).toHaveCount(0);
  await patient(callLine(anas, "Vous : Appel audio terminé")).toBeVisible();
  for (const phone of [anas, bens]) await phone.close();
});
