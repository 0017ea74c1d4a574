import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  callControl,
  callScreen,
  callTimeoutMs,
  connectCall,
  expectHearing,
  expectSeeing,
  openCallClient,
  videoTimeoutMs,
} from "#tests/support/browser/call-client.ts";
import { fill, type TestClient } from "#tests/support/browser/test-client.ts";
import { setVisibility } from "#tests/support/browser/visibility.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";

test.use({ actionTimeout: callTimeoutMs });
const patient = expect.configure({ timeout: callTimeoutMs });

/** Remote video frames drawn so far. */
const framesAt = ({ page }: TestClient): Promise<number> =>
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

const expectNoPictures = async (phone: TestClient): Promise<void> => {
  let before = -1;
  const isStill = async () => {
    const now = await framesAt(phone);
    const is = now === before;
    before = now;
    return is;
  };
  await expect.poll(isStill, { intervals: [1_500], timeout: callTimeoutMs }).toBe(true);
};

test("a message behind the call's screen counts as read once the screen is closed, not before; video is not sent while its call or page is hidden, and returns to the screen or to a picture-in-picture window", async ({
  browser,
  server,
}) => {
  const { people } = await makePair(toSite(server), 8_392);
  const [ana, ben] = people;
  const [anas, bens] = [await openCallClient(browser, server), await openCallClient(browser, server)];
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signInToChat(ben, ana.id)]);
  await connectCall(anas, bens, ben, "video");
  await callControl(anas, "minimise").click();
  await expect(callScreen(bens, ana)).toBeVisible();

  await anas.write("Je t'envoie l'adresse");
  await patient(anas.ticks("Je t'envoie l'adresse", "delivered")).toBeVisible();
  // One full round trip after the message arrived in the chat.
  await anas.write("Deuxième étage");
  await patient(anas.ticks("Deuxième étage", "delivered")).toBeVisible();
  await expect(anas.ticks("Je t'envoie l'adresse", "delivered")).toBeVisible();

  await callControl(bens, "minimise").click();
  await expect(bens.message("Deuxième étage")).toBeVisible();
  for (const text of ["Je t'envoie l'adresse", "Deuxième étage"]) {
    await patient(anas.ticks(text, "read")).toBeVisible();
  }

  // Both see each other again, and then Ben, outside the chat, hides the call.
  await anas.page.getByRole("button", { name: anas.texts.calls.restore }).click();
  await bens.openRoute("/app");
  const restore = bens.page.getByRole("button", { name: fill(bens.texts.calls.restoreName, { name: ana.username }) });
  await restore.click();
  await expectSeeing(anas, bens);
  await callControl(bens, "mute").click();
  const unseen = callScreen(anas, ben).getByText(fill(anas.texts.calls.notice.cameraUnwanted, { name: ben.username }));
  const ofBen = (name: string) => bens.page.getByRole("button", { name, exact: true });

  await callControl(bens, "minimise").click();
  await patient(unseen).toBeVisible();
  await expectNoPictures(bens);
  await expectHearing(bens);
  // Disabled controls stay visible.
  await expect(bens.page.getByText(bens.texts.calls.ownMuted)).toBeVisible();
  await expectSeeing(anas); // her screen still shows his

  // The picture-in-picture window opens for video that arrives within five seconds of the tap; later it needs another
  // tap.
  await expect(async () => {
    await ofBen(bens.texts.calls.popOut).click();
    const isOut = () => bens.page.evaluate(() => document.pictureInPictureElement !== null);
    await expect.poll(isOut, { timeout: 6_000 }).toBe(true);
  }).toPass({ timeout: videoTimeoutMs });
  await expectSeeing(bens);
  await expect(unseen).toHaveCount(0);
  await bens.page.evaluate(() => document.exitPictureInPicture());
  await patient(unseen).toBeVisible();

  await restore.click();
  await expectSeeing(bens);
  await expect(unseen).toHaveCount(0);

  // Another app covers the page.
  await setVisibility(bens, "hidden");
  await patient(unseen).toBeVisible();
  await setVisibility(bens, "visible");
  await expectSeeing(bens);
  await expect(unseen).toHaveCount(0);
});
