import { expect, test } from "../support/browser-test";
import { callScreen, control, openCalling, patienceMs, talk } from "../support/calling";
import { makeCouple, siteOf } from "../support/pair";

test.use({ actionTimeout: patienceMs });
const patient = expect.configure({ timeout: patienceMs });

test("what is written to somebody whose chat lies behind a call's screen is read when the screen goes, and not before", async ({
  browser,
  server,
}) => {
  const { people } = await makeCouple(siteOf(server), 8_392);
  const [ana, ben] = people;
  const [anas, bens] = [await openCalling(browser, server), await openCalling(browser, server)];
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signInToChat(ben, ana.id)]);
  await talk(anas, bens, ben);
  await control(anas, "minimise").click();
  await expect(callScreen(bens, ana)).toBeVisible();

  await anas.write("Je t'envoie l'adresse");
  await patient(anas.ticks("Je t'envoie l'adresse", "delivered")).toBeVisible();
  // A whole way there and back after it was in the chat.
  await anas.write("Deuxième étage");
  await patient(anas.ticks("Deuxième étage", "delivered")).toBeVisible();
  await expect(anas.ticks("Je t'envoie l'adresse", "delivered")).toBeVisible();

  await control(bens, "minimise").click();
  await expect(bens.message("Deuxième étage")).toBeVisible();
  for (const text of ["Je t'envoie l'adresse", "Deuxième étage"]) {
    await patient(anas.ticks(text, "read")).toBeVisible();
  }
});
