import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  callButton,
  callControl,
  callEntry,
  callScreen,
  callTimeoutMs,
  expectHearing,
  openCallClient,
} from "#tests/support/browser/call-client.ts";
import { instrumentDevices } from "#tests/support/browser/call-devices.ts";
import { fill, type TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson, signInAgain } from "#tests/support/people/people.ts";

test.use({ actionTimeout: callTimeoutMs });
const patient = expect.configure({ timeout: callTimeoutMs });

/** Call entries in the open chat: text, duration, time, and whether they are red. */
const linesOf = (phone: TestClient) =>
  callEntry(phone, /Chamada|Videochamada|Appel/).evaluateAll((lines) =>
    lines.map((line) => ({
      text: line.querySelector("bdi")?.textContent,
      length: /(\d+ min )?\d+ s/.exec(line.textContent ?? "")?.[0],
      at: line.querySelector("time")?.dateTime,
      isRed: line.querySelector(".text-danger bdi") !== null,
    })),
  );

/** Checks a notice about an ended call that one tap opens; it disappears once, and nothing asks again. */
const judge = async (
  { page, texts }: TestClient,
  name: string,
  taps: ("good" | "bad" | "sound")[],
): Promise<unknown[]> => {
  const sent: unknown[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/feedback")) sent.push(request.postDataJSON());
  });
  const card = page.getByRole("region", { name: fill(texts.calls.with, { name }) });
  await expect(card).toContainText(texts.calls.feedback.question);
  // The thanks are shown for a moment.
  const thanked = page.waitForFunction(
    (thanks) => [...document.querySelectorAll("[role=status]")].some(({ textContent }) => textContent === thanks),
    texts.calls.feedback.thanks,
  );
  for (const tap of taps) await card.getByRole("button", { name: texts.calls.feedback[tap], exact: true }).click();
  await thanked;
  await expect(card).toHaveCount(0);
  await expect.poll(() => sent).not.toEqual([]);
  return sent;
};

test("a call rings on two devices in Portuguese and stops on both at once; each shows the same entry", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 8_330, "Ana"), await makePerson(site, 8_331, "Ben")];
  await connectPeople(site, ana, ben);
  const anas = await openCallClient(browser, server);
  const [phone, laptop] = [
    await openCallClient(browser, server, { language: "pt" }),
    await openCallClient(browser, server, { language: "pt" }),
  ];
  const bensClients = [phone, laptop];
  await instrumentDevices(phone.page);
  await anas.signIn(ana, "/app/contacts");
  await phone.signIn(ben);
  await laptop.signIn(await signInAgain(site, ben));
  await laptop.page.setViewportSize({ width: 1280, height: 800 });
  const { texts } = anas;
  const pt = phone.texts;
  const toast = ({ page }: TestClient, words: string) => page.getByText(words, { exact: true });
  const everywhere = (check: (device: TestClient) => Promise<void>) => Promise.all(bensClients.map(check));
  const expectQuiet = () => everywhere((device) => patient(callScreen(device, ana)).toHaveCount(0));

  // By the buttons of her contact's row. Declined on one device.
  await callButton(anas, ben, "video").click();
  await patient(callScreen(anas, ben)).toContainText(texts.calls.status.outgoingRings);
  await everywhere((device) => patient(callScreen(device, ana)).toContainText("Videochamada recebida"));
  await Promise.all([
    patient(toast(anas, texts.calls.say.rejected)).toBeVisible(),
    patient(toast(laptop, "Videochamada recusada")).toBeVisible(),
    callControl(laptop, "decline").click(),
  ]);
  await expectQuiet();
  await expect(callScreen(anas, ben)).toHaveCount(0);

  // Cancelled by her.
  await callButton(anas, ben).click();
  await everywhere((device) => patient(callScreen(device, ana)).toContainText("Chamada de voz recebida"));
  await callControl(anas, "hangUp").click();
  await expectQuiet();

  // Answered on one device.
  await callButton(anas, ben).click();
  await everywhere((device) => patient(callControl(device, "accept")).toBeVisible());
  await Promise.all([
    patient(toast(laptop, "Atendida noutro dispositivo")).toBeVisible(),
    callControl(phone, "accept").click(),
  ]);
  await expectHearing(anas, phone);
  await expect(callScreen(phone, ana)).toContainText("Chamada ligada");
  const timer = phone.page.getByRole("timer", { name: "Duração da chamada" });
  await patient(timer).toHaveText(/^\d\d:\d\d$/);
  // While the call code is loading it is unknown which device has the call: no button waits for that.
  let letCodeCome = () => {};
  const isHeld = new Promise<void>((resolve) => {
    letCodeCome = resolve;
  });
  await laptop.context.route("**/assets/start-*.js", (route) => isHeld.then(() => route.continue()));
  await laptop.openChat(ana.id);
  await patient(laptop.page.getByRole("heading", { level: 1, name: "Ana online" })).toBeVisible();
  await expect(callButton(laptop, ana)).toBeEnabled();
  letCodeCome();
  // His phone may be the one that died: the server knows, and a toast says so.
  await Promise.all([
    patient(toast(laptop, pt.calls.say.elsewhereBody)).toBeVisible(),
    callButton(laptop, ana).click(),
  ]);
  await expect(callScreen(laptop, ana)).toHaveCount(0);
  await expect(toast(laptop, pt.calls.otherTab)).toHaveCount(0); // another device is no other tab

  // He switches to another microphone, and is heard through it.
  const openMicrophones = () => phone.page.evaluate(() => window.devices.open("audio"));
  const [first] = await openMicrophones();
  await phone.page.getByRole("button", { name: pt.calls.devices.openAudio }).click();
  const microphones = phone.page
    .getByRole("dialog", { name: pt.calls.devices.titleAudio })
    .getByRole("group", { name: pt.calls.devices.microphone })
    .getByRole("radio");
  await expect(microphones.first()).toBeChecked();
  await microphones.last().click();
  await expect(microphones.last()).toBeChecked();
  await expect.poll(openMicrophones).toEqual([expect.not.stringMatching(`^${first}$`)]);
  await phone.page.keyboard.press("Escape");
  await expectHearing(anas, phone);

  // A call long enough for feedback: one tap for good, two taps for bad.
  await patient(timer).toHaveText(/^(00:(2[1-9]|[3-5]\d)|0[1-9]:\d\d)$/);
  await callControl(anas, "hangUp").click();
  const [good, bad] = await Promise.all([judge(phone, "Ana", ["good"]), judge(anas, "Ben", ["bad", "sound"])]);
  expect(good).toEqual([expect.objectContaining({ good: true })]);
  expect(bad).toEqual([expect.objectContaining({ good: false, reason: "sound" })]);

  // One entry for each call, the same on all his devices, and from her side on hers.
  await phone.openRoute(`/app/chat/${ana.id}`);
  await anas.openRoute(`/app/chat/${ben.id}`);
  await everywhere((device) => patient(callEntry(device, "Ana: Chamada de voz terminada")).toBeVisible());
  await expect.poll(() => linesOf(laptop)).toEqual(await linesOf(phone));
  expect(await linesOf(phone)).toMatchObject([
    { text: "Videochamada recusada", isRed: true },
    { text: "Chamada de voz perdida", isRed: true },
    { text: "Chamada de voz terminada", length: expect.stringMatching(/\d s$/), isRed: false },
  ]);
  await patient(callEntry(anas, "Vous : Appel audio terminé")).toBeVisible();
  expect(await linesOf(anas)).toMatchObject([
    { text: expect.stringContaining("Appel vidéo refusé par"), isRed: true },
    { text: "Appel audio annulé", isRed: false },
    { text: "Appel audio terminé", length: (await linesOf(phone))[2]?.length, isRed: false },
  ]);
  for (const one of [anas, ...bensClients]) await one.close();
});
