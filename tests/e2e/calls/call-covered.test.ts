import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  callScreen,
  control,
  expectHearing,
  expectSeeing,
  openCalling,
  patienceMs,
  picturePatienceMs,
  talk,
} from "#tests/support/browser/calling.ts";
import { fill, type Phone } from "#tests/support/browser/phone.ts";
import { makeCouple, siteOf } from "#tests/support/people/pair.ts";

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

/** Pictures of the other side that were drawn by now. */
const framesAt = ({ page }: Phone): Promise<number> =>
  page.evaluate(async () => {
    let frames = 0;
    for (const connection of window.peerConnections) {
      if (connection.signalingState === "closed") continue;
      for (const entry of (await connection.getStats()).values()) {
        if (entry.type === "inbound-rtp") frames += entry.framesDecoded ?? 0;
      }
    }
    return frames;
  });

const expectNoPictures = async (phone: Phone): Promise<void> => {
  let before = -1;
  const isStill = async () => {
    const now = await framesAt(phone);
    const is = now === before;
    before = now;
    return is;
  };
  await expect.poll(isStill, { intervals: [1_500], timeout: patienceMs }).toBe(true);
};

const setVisibility = ({ page }: Phone, state: DocumentVisibilityState): Promise<void> =>
  page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);

test("a picture costs nobody anything while its call or its page is put away, and comes again to the screen or to a window of its own", async ({
  browser,
  server,
}) => {
  const { people } = await makeCouple(siteOf(server), 8_394);
  const [ana, ben] = people;
  const [anas, bens] = [await openCalling(browser, server), await openCalling(browser, server)];
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signIn(ben)]);
  await talk(anas, bens, ben, "video");
  await expectSeeing(anas, bens);
  await control(bens, "mute").click();
  const unseen = callScreen(anas, ben).getByText(fill(anas.texts.calls.notice.cameraUnwanted, { name: ben.username }));
  const ofBen = (name: string) => bens.page.getByRole("button", { name, exact: true });

  await control(bens, "minimise").click();
  await patient(unseen).toBeVisible();
  await expectNoPictures(bens);
  await expectHearing(bens);
  // What is off stays in sight.
  await expect(bens.page.getByText(bens.texts.calls.ownMuted)).toBeVisible();
  await expectSeeing(anas); // hers still has his

  // The window is for a picture that comes within five seconds of the tap; after that one taps again.
  await expect(async () => {
    await ofBen(bens.texts.calls.popOut).click();
    const isOut = () => bens.page.evaluate(() => document.pictureInPictureElement !== null);
    await expect.poll(isOut, { timeout: 6_000 }).toBe(true);
  }).toPass({ timeout: picturePatienceMs });
  await expectSeeing(bens);
  await expect(unseen).toHaveCount(0);
  await bens.page.evaluate(() => document.exitPictureInPicture());
  await patient(unseen).toBeVisible();

  await bens.page.getByRole("button", { name: fill(bens.texts.calls.restoreName, { name: ana.username }) }).click();
  await expectSeeing(bens);
  await expect(unseen).toHaveCount(0);

  // Another app is before the page.
  await setVisibility(bens, "hidden");
  await patient(unseen).toBeVisible();
  await setVisibility(bens, "visible");
  await expectSeeing(bens);
  await expect(unseen).toHaveCount(0);
});
