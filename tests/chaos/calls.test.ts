import type { CallBody } from "#contract/calls/call.ts";
import type { ConversationId } from "#contract/ids.ts";
import { callSilentMaxMs, callUnreachableMs } from "#contract/limits.ts";
import {
  callButton,
  callLine,
  callScreen,
  control,
  expectHearing,
  openCalling,
  openCallingIn,
  patienceMs,
  talk,
} from "#tests/support/browser/calling.ts";
import { MortalBrowser } from "#tests/support/browser/killable-browser.ts";
import { expect, test } from "#tests/support/browser/tidy-test.ts";
import { makeCouple, siteOf } from "#tests/support/people/pair.ts";
import type { Person, Site } from "#tests/support/people/people.ts";
import { readServerMessages } from "#tests/support/server/logs.ts";
import { startServer } from "#tests/support/server/server.ts";

const endsMs = 60_000; // a ring, on a machine that may be busy
const pressMs = 2_000;

/** The lines that calls left in a conversation. */
const readCalls = async (site: Site, person: Person, conversation: ConversationId): Promise<CallBody[]> =>
  (await readServerMessages(site, person, conversation)).flatMap(({ body }) => (body.type === "call" ? [body] : []));

test("calls outlive the runtime, and whoever is left by a dead browser is soon free, and so is its owner: each call leaves one line", async ({
  browser,
}) => {
  test.setTimeout(300_000);
  const server = await startServer();
  const battery = new MortalBrowser();
  try {
    const site = siteOf(server);
    const [talking, ringing, window] = await Promise.all([makeCouple(site, 1), makeCouple(site, 3), battery.start()]);
    const [[ana, ben], [cleo, dido]] = [talking.people, ringing.people];
    const dying = window.browser();
    if (!dying) throw new Error("Chromium is no browser");
    const [anas, cleos, bens, didos, tablet] = [
      await openCallingIn(await dying.newContext({ baseURL: server.origin }), server),
      await openCallingIn(await dying.newContext({ baseURL: server.origin }), server),
      await openCalling(browser, server),
      await openCalling(browser, server),
      await openCalling(browser, server),
    ];
    await Promise.all([
      anas.signInToChat(ana, ben.id),
      bens.signInToChat(ben, ana.id),
      cleos.signInToChat(cleo, dido.id),
      didos.signInToChat(dido, cleo.id),
      tablet.signInToChat(ana, ben.id),
    ]);
    const { texts } = bens;

    // The runtime dies while one call is talked and another one rings. Both go on, without it and after it.
    await talk(anas, bens, ben);
    await callButton(cleos, dido).click();
    const answer = control(didos, "accept");
    await expect(answer).toBeVisible({ timeout: patienceMs });
    await server.kill();
    await expectHearing(anas, bens); // of what comes while there is no server
    await expect(answer).toBeVisible();
    await server.restart();
    const missed = callLine(didos, `${cleo.username} : Appel audio manqué`);
    await expect(answer.or(missed).first()).toBeVisible(); // on a machine that took half a minute for that

    await control(bens, "hangUp").click();
    const ended = callLine(bens, `${ana.username} : Appel audio terminé`);
    for (const [phone, other] of [
      [anas, ben],
      [bens, ana],
    ] as const)
      await expect(callScreen(phone, other)).toHaveCount(0, { timeout: patienceMs });
    await expect(ended).toHaveCount(1, { timeout: patienceMs });

    // Both callers' browser dies, in the middle of a talk and of a ring: whoever is left is soon free, and Ana calls again
    // by another device, no sooner than her page could have come back, and sooner than a call ends of which nobody says
    // anything.
    await expect(callButton(anas, ben)).toBeEnabled({ timeout: patienceMs });
    const dialledAt = Date.now();
    await talk(anas, bens, ben);
    await battery.kill();
    const diedAt = Date.now();
    await expect(callScreen(bens, ana)).toContainText(texts.calls.status.reconnecting, { timeout: patienceMs });
    await expect
      .poll(
        async () => {
          if (!(await callScreen(tablet, ben).isVisible()))
            await callButton(tablet, ben).click({ timeout: patienceMs });
          return control(bens, "accept").isVisible();
        },
        { intervals: [pressMs], timeout: callSilentMaxMs },
      )
      .toBe(true);
    expect(Date.now() - diedAt).toBeGreaterThan(callUnreachableMs - pressMs);
    await control(bens, "decline").click();
    await expect(callScreen(didos, cleo)).toHaveCount(0, { timeout: endsMs });
    await expect(ended).toHaveCount(2, { timeout: patienceMs });
    await expect(callScreen(tablet, ben)).toHaveCount(0, { timeout: patienceMs });
    await expect(missed).toHaveCount(1, { timeout: patienceMs });
    const talked = await readCalls(site, ben, talking.conversation);
    expect(talked).toMatchObject([{ status: "ended" }, { status: "ended" }, { status: "rejected" }]);
    for (const { seconds } of talked.slice(0, 2)) expect(seconds).toBeGreaterThan(0);
    expect(talked[1]?.seconds).toBeLessThanOrEqual(Math.ceil((diedAt - dialledAt) / 1_000));
    expect(await readCalls(site, dido, ringing.conversation)).toMatchObject([{ status: "missed", seconds: 0 }]);
    // Both may be called again.
    for (const [phone, other] of [
      [bens, ana],
      [didos, cleo],
      [tablet, ben],
    ] as const) {
      await expect(callButton(phone, other)).toBeEnabled();
      await phone.close();
    }
  } finally {
    await battery.remove();
    await server.stop();
  }
});
