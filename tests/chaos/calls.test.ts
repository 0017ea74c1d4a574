import type { CallBody } from "../../contract/calls";
import type { ConversationId } from "../../contract/ids";
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
} from "../support/calling";
import { readServerMessages } from "../support/logs";
import { MortalBrowser } from "../support/mortal-browser";
import { makeCouple, siteOf } from "../support/pair";
import type { Person, Site } from "../support/people";
import { startServer } from "../support/server";
import { expect, test } from "../support/tidy-test";

const endsMs = 60_000; // a ring, on a machine that may be busy
const gapMs = 60_000; // so long a call waits for somebody whose phone may only be in a tunnel

/** The lines that calls left in a conversation. */
const readCalls = async (site: Site, person: Person, conversation: ConversationId): Promise<CallBody[]> =>
  (await readServerMessages(site, person, conversation)).flatMap(({ body }) => (body.type === "call" ? [body] : []));

test("calls outlive the runtime, and whoever is left by a dead browser is soon free: each call leaves one line", async ({
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
    const [anas, cleos, bens, didos] = [
      await openCallingIn(await dying.newContext({ baseURL: server.origin }), server),
      await openCallingIn(await dying.newContext({ baseURL: server.origin }), server),
      await openCalling(browser, server),
      await openCalling(browser, server),
    ];
    await bens.page.clock.install(); // it goes as ever until it is put forward
    await Promise.all([
      anas.signInToChat(ana, ben.id),
      bens.signInToChat(ben, ana.id),
      cleos.signInToChat(cleo, dido.id),
      didos.signInToChat(dido, cleo.id),
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

    // Both callers' browser dies, in the middle of a talk and of a ring: whoever is left is soon free.
    await expect(callButton(anas, ben)).toBeEnabled({ timeout: patienceMs });
    await talk(anas, bens, ben);
    await battery.kill();
    await expect(callScreen(bens, ana)).toContainText(texts.calls.status.reconnecting, { timeout: patienceMs });
    await bens.page.clock.fastForward(gapMs);
    await expect(callScreen(bens, ana)).toHaveCount(0, { timeout: patienceMs });
    await expect(callScreen(didos, cleo)).toHaveCount(0, { timeout: endsMs });
    await expect(ended).toHaveCount(2, { timeout: patienceMs });
    await expect(missed).toHaveCount(1, { timeout: patienceMs });
    const talked = await readCalls(site, ben, talking.conversation);
    expect(talked).toMatchObject([{ status: "ended" }, { status: "ended" }]);
    for (const { seconds } of talked) expect(seconds).toBeGreaterThan(0);
    expect(await readCalls(site, dido, ringing.conversation)).toMatchObject([{ status: "missed", seconds: 0 }]);
    // Both may be called again.
    for (const [phone, other] of [
      [bens, ana],
      [didos, cleo],
    ] as const) {
      await expect(callButton(phone, other)).toBeEnabled();
      await phone.close();
    }
  } finally {
    await battery.remove();
    await server.stop();
  }
});
