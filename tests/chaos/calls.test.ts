import { expect, test } from "@playwright/test";
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

const endsMs = 120_000; // the longest of all watchdogs, on a machine that may be busy

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
    const [talking, ringing] = [await makeCouple(site, 1), await makeCouple(site, 3)];
    const [[ana, ben], [cleo, dido]] = [talking.people, ringing.people];
    const dying = (await battery.start()).browser();
    if (!dying) throw new Error("Chromium is no browser");
    const [anas, cleos, bens, didos] = [
      await openCallingIn(await dying.newContext({ baseURL: server.origin }), server),
      await openCallingIn(await dying.newContext({ baseURL: server.origin }), server),
      await openCalling(browser, server),
      await openCalling(browser, server),
    ];
    await Promise.all([
      anas.signInToChat(ana, ben.id),
      bens.signInToChat(ben, ana.id),
      cleos.signInToChat(cleo, dido.id),
      didos.signInToChat(dido, cleo.id),
    ]);
    const { texts } = bens;

    // The runtime dies while one call is talked and another one rings.
    await talk(anas, bens, ben);
    await callButton(cleos, dido).click();
    await expect(control(didos, "accept")).toBeVisible({ timeout: patienceMs });
    await server.kill();
    await expectHearing(anas, bens); // of what comes while there is no server
    await expect(callScreen(didos, cleo)).toBeVisible();
    await server.restart();
    // It rings on, and can be taken; on a machine that took half a minute for that it was missed.
    const answer = control(didos, "accept");
    const missed = callLine(didos, `${cleo.username} : Appel audio manqué`);
    await expect(answer.or(missed).first()).toBeVisible({ timeout: patienceMs });
    const isTaken = await answer.isVisible();
    if (isTaken) {
      await answer.click();
      await expectHearing(cleos, didos);
      await control(cleos, "hangUp").click();
    }
    const first = isTaken ? "ended" : "missed";
    await expect
      .poll(async () => (await readCalls(site, cleo, ringing.conversation)).map(({ status }) => status), {
        timeout: patienceMs,
      })
      .toEqual([first]);
    test.info().annotations.push({ type: "what rang when the runtime died", description: first });

    await expectHearing(anas, bens);
    await control(bens, "hangUp").click();
    await expect(callScreen(anas, ben)).toHaveCount(0, { timeout: patienceMs });
    await expect(callLine(bens, `${ana.username} : Appel audio terminé`)).toHaveCount(1);
    const [talked, ...more] = await readCalls(site, ben, talking.conversation);
    expect(talked).toMatchObject({ status: "ended" });
    expect(talked?.seconds).toBeGreaterThan(0);
    expect(more).toEqual([]);

    // Both callers' browser dies at once, in the middle of a ring and of a talk.
    await callButton(cleos, dido).click();
    await expect(control(didos, "accept")).toBeVisible({ timeout: patienceMs });
    await talk(anas, bens, ben);
    await battery.kill();
    await expect(callScreen(bens, ana)).toContainText(texts.calls.status.reconnecting, { timeout: patienceMs });
    await expect(callScreen(bens, ana)).toHaveCount(0, { timeout: endsMs });
    await expect(callScreen(didos, cleo)).toHaveCount(0, { timeout: endsMs });
    await expect(callLine(bens, `${ana.username} : Appel audio terminé`)).toHaveCount(2, { timeout: patienceMs });
    await expect(missed).toHaveCount(isTaken ? 1 : 2, { timeout: patienceMs });
    const statuses = async (person: Person, conversation: ConversationId) =>
      (await readCalls(site, person, conversation)).map(({ status }) => status);
    expect(await statuses(ben, talking.conversation)).toEqual(["ended", "ended"]);
    expect(await statuses(dido, ringing.conversation)).toEqual([first, "missed"]);
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
