import type { CallBody } from "#contract/calls/call.ts";
import type { ConversationId } from "#contract/ids.ts";
import { callSilentMaxMs, callUnreachableMs } from "#contract/limits/calls.ts";
import {
  callButton,
  callControl,
  callEntry,
  callScreen,
  callTimeoutMs,
  connectCall,
  expectHearing,
  openCallClient,
  openCallClientIn,
} from "#tests/support/browser/call-client.ts";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { KillableBrowser } from "#tests/support/browser/killable-browser.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { callSite, type Person, type Site } from "#tests/support/people/people.ts";
import { readServerMessages } from "#tests/support/server/logs.ts";
import { cheapWork, startServer } from "#tests/support/server/server.ts";

const endsMs = 60_000; // a ring, on a machine that may be busy
const dialMs = 2_000;

/** Call entries of a conversation. */
const readCalls = async (site: Site, person: Person, conversation: ConversationId): Promise<CallBody[]> =>
  (await readServerMessages(site, person, conversation)).flatMap(({ body }) => (body.type === "call" ? [body] : []));

test("calls survive a crash of the runtime, and after a browser crash both people are soon free: each call leaves one entry", async ({
  browser,
}) => {
  test.setTimeout(300_000);
  const server = await startServer({ vars: cheapWork });
  const battery = new KillableBrowser();
  try {
    const site = toSite(server);
    const [talking, ringing, window] = await Promise.all([makePair(site, 1), makePair(site, 3), battery.start()]);
    const [[ana, ben], [cleo, dido]] = [talking.people, ringing.people];
    const dying = window.browser();
    if (!dying) throw new Error("Chromium is no browser");
    const [anas, cleos, bens, didos] = [
      await openCallClientIn(await dying.newContext({ baseURL: server.origin }), server),
      await openCallClientIn(await dying.newContext({ baseURL: server.origin }), server),
      await openCallClient(browser, server),
      await openCallClient(browser, server),
    ];
    await Promise.all([
      anas.signInToChat(ana, ben.id),
      bens.signInToChat(ben, ana.id),
      cleos.signInToChat(cleo, dido.id),
      didos.signInToChat(dido, cleo.id),
    ]);
    const { texts } = bens;

    // The runtime dies while one call is connected and another one rings. Both continue during the outage and after it.
    await connectCall(anas, bens, ben);
    await callButton(cleos, dido).click();
    const answer = callControl(didos, "accept");
    await expect(answer).toBeVisible({ timeout: callTimeoutMs });
    await server.kill();
    await expectHearing(anas, bens); // of sound received while there is no server
    await expect(answer).toBeVisible();
    await server.restart();
    const missed = callEntry(didos, `${cleo.username} : Appel audio manqué`);
    await expect(answer.or(missed).first()).toBeVisible(); // on a machine that needed half a minute for that

    await callControl(bens, "hangUp").click();
    const ended = callEntry(bens, `${ana.username} : Appel audio terminé`);
    for (const [phone, other] of [
      [anas, ben],
      [bens, ana],
    ] as const)
      await expect(callScreen(phone, other)).toHaveCount(0, { timeout: callTimeoutMs });
    await expect(ended).toHaveCount(1, { timeout: callTimeoutMs });

    // The browser of both callers dies, during a connected call and during a ring. The other sides are soon free, and
    // Ana calls again from another device: not before her page could have returned, and before the timeout of a silent
    // call.
    await expect(callButton(anas, ben)).toBeEnabled({ timeout: callTimeoutMs });
    const dialledAt = Date.now();
    await connectCall(anas, bens, ben);
    await battery.kill();
    const diedAt = Date.now();
    await expect(callScreen(bens, ana)).toContainText(texts.calls.status.reconnecting, { timeout: callTimeoutMs });
    const body = { callee_id: ben.id, type: "audio" };
    const dial = async () => (await callSite(site, "POST", "/api/calls", { token: ana.token, body })).status;
    await expect.poll(dial, { intervals: [dialMs], timeout: callSilentMaxMs }).toBe(200);
    expect(Date.now() - diedAt).toBeGreaterThan(callUnreachableMs - dialMs);
    await callControl(bens, "decline").click();
    await expect(callScreen(didos, cleo)).toHaveCount(0, { timeout: endsMs });
    await expect(ended).toHaveCount(2, { timeout: callTimeoutMs });
    await expect(missed).toHaveCount(1, { timeout: callTimeoutMs });
    const talked = await readCalls(site, ben, talking.conversation);
    expect(talked).toMatchObject([{ status: "ended" }, { status: "ended" }, { status: "rejected" }]);
    for (const { seconds } of talked.slice(0, 2)) expect(seconds).toBeGreaterThan(0);
    expect(talked[1]?.seconds).toBeLessThanOrEqual(Math.ceil((diedAt - dialledAt) / 1_000));
    expect(await readCalls(site, dido, ringing.conversation)).toMatchObject([{ status: "missed", seconds: 0 }]);
    // Both can be called again.
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
