import { fill, TestClient, textsOf } from "#tests/support/browser/test-client.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import type { Person } from "#tests/support/people/people.ts";
import { type Gateway, openBaselineGateway, openGatewayTo, runGateway } from "./pages/gateway.ts";
import { type MeasuredPage, type MediaTotals, readTotals, waitForSound, watcherScript } from "./pages/watch.ts";
import { startProduct } from "./product-call.ts";
import { Firefox } from "./programs/firefox.ts";
import { origin, type Scene, serverAddress, serverPort } from "./scene.ts";

const firstSoundTimeoutMs = 30_000;
const talkMs = 8_000;
const texts = textsOf.fr;

/** Media received by each side of a video call within `seconds`. */
export type FirefoxCallResult = { heardMs: (number | undefined)[]; totals: MediaTotals[]; seconds: number };

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts Firefox on the callee's network node; the server has the same address as for the other pages. */
export async function openFirefox({ sides: [, { node }] }: Scene): Promise<Firefox> {
  await runGateway(node, `127.0.0.1:${serverPort}`, `${serverAddress}:${serverPort}`);
  return Firefox.open(node, watcherScript);
}

async function measureCall(caller: MeasuredPage, callee: MeasuredPage, at: number): Promise<FirefoxCallResult> {
  const pages = [caller, callee];
  const heardAt = await Promise.all(pages.map((page) => waitForSound(page, at, firstSoundTimeoutMs)));
  await pause(talkMs);
  const totals = await Promise.all(pages.map(readTotals));
  return { heardMs: heardAt.map((moment) => moment && moment - at), totals, seconds: talkMs / 1000 };
}

export async function callBaseline(
  scene: Scene,
  firefox: Firefox,
  isFirefoxCaller: boolean,
): Promise<FirefoxCallResult> {
  const door = await openBaselineGateway(scene.server, serverAddress, serverPort);
  const context = await scene.sides[0].open();
  try {
    const page = await context.newPage();
    for (const one of [page, firefox]) await one.goto(origin);
    const [caller, callee]: MeasuredPage[] = isFirefoxCaller ? [firefox, page] : [page, firefox];
    if (!caller || !callee) throw new Error("Caller or callee is missing");
    const options = { hasVideo: true, iceServers: [], iceTransportPolicy: "all" } as const;
    await caller.evaluate((chosen) => baseline.join(chosen), { ...options, iceServers: [], isCaller: true });
    await callee.evaluate((chosen) => baseline.join(chosen), { ...options, iceServers: [], isCaller: false });
    return await measureCall(caller, callee, await callee.evaluate(() => baseline.accept()));
  } finally {
    await firefox.goto("about:blank");
    await context.close();
    door.close();
  }
}

/** Logs in through the form: fills it like a keyboard would, and submits it. */
async function logIn(firefox: Firefox, { phone, password }: Person): Promise<void> {
  await firefox.goto(`${origin}/login`);
  await firefox.evaluate(
    async ([number, secret]) => {
      const field = (name: string) => document.querySelector<HTMLInputElement>(`input[name="${name}"]`);
      while (!field("phoneNumber") || !field("password")) await new Promise((resolve) => setTimeout(resolve, 50));
      const type = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
      for (const [name, value] of [
        ["phoneNumber", number],
        ["password", secret],
      ] as const) {
        type?.call(field(name), value);
        field(name)?.dispatchEvent(new InputEvent("input", { bubbles: true }));
      }
      field("password")?.form?.requestSubmit();
    },
    [phone, password] as const,
  );
  const deadline = Date.now() + firstSoundTimeoutMs;
  // The app is another document: evaluations during the navigation fail.
  while ((await firefox.evaluate(() => location.pathname).catch(() => undefined)) !== "/app") {
    if (Date.now() > deadline) throw new Error("Firefox did not log in");
    await pause(200);
  }
}

/** Clicks the button with this name as soon as it is enabled; returns the time of the click. */
const clickButton = (page: MeasuredPage, name: string): Promise<number> =>
  page.evaluate(async (wanted) => {
    const find = () =>
      [...document.querySelectorAll("button")].find(
        (button) => (button.getAttribute("aria-label") ?? button.textContent?.trim()) === wanted && !button.disabled,
      );
    const deadline = Date.now() + 30_000;
    while (!find() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
    const found = find();
    if (!found) throw new Error(`There is no button ${wanted}`);
    const at = Date.now();
    found.click();
    return at;
  }, name);

/** Two people of the product, one in Chromium and one in Firefox, call each other once each. */
export async function callInProduct(
  scene: Scene,
  firefox: Firefox,
): Promise<[fromChromium: FirefoxCallResult, fromFirefox: FirefoxCallResult]> {
  const product = await startProduct();
  let door: Gateway | undefined;
  const context = await scene.sides[0].open();
  try {
    door = await openGatewayTo(scene.server, serverAddress, serverPort);
    const { people } = await makePair(toSite(product.server), 1);
    const phone = await TestClient.openIn(context, product.server, "fr");
    await phone.signInToChat(people[0], people[1].id);
    await logIn(firefox, people[1]);
    await firefox.goto(`${origin}/app/chat/${people[0].id}`);
    // The data cost was confirmed before.
    await firefox.evaluate(() => localStorage.setItem("call-price", "audio video"));
    const meetings: FirefoxCallResult[] = [];
    for (const isFirefoxCaller of [false, true]) {
      const [caller, callee]: MeasuredPage[] = isFirefoxCaller ? [firefox, phone.page] : [phone.page, firefox];
      if (!caller || !callee) throw new Error("Caller or callee is missing");
      const name = people[isFirefoxCaller ? 0 : 1].username;
      await clickButton(caller, fill(texts.people.videoCallName, { name }));
      const at = await clickButton(callee, texts.calls.accept);
      meetings.push(await measureCall(caller, callee, at));
      await clickButton(caller, texts.calls.hangUp);
      await pause(3_000); // the end of a call stays on screen
    }
    const [first, second] = meetings;
    if (!first || !second) throw new Error("The calls were not measured");
    return [first, second];
  } finally {
    await firefox.goto("about:blank").catch(() => undefined);
    await context.close();
    door?.close();
    await product.stop();
  }
}
