import { expect, test } from "#tests/support/browser/closing-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { toSimulationSize } from "#tests/support/long-run.ts";
import { AppDevice } from "#tests/support/model/app-device.ts";
import { makeFriends } from "#tests/support/people/friends.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { toSite } from "#tests/support/people/pair.ts";
import type { Person } from "#tests/support/people/people.ts";
import { countOutbox, readLocalLog, readScreen, readServerLog, toLogLine } from "#tests/support/server/logs.ts";
import { cheapWork, startServer } from "#tests/support/server/server.ts";

const textsEach = toSimulationSize(12, 24);
const whileAlive = toSimulationSize(5, 10); // the server dies while the rest is written

test("the runtime dies while five people write in a group, and as one of them is removed: each device is right in the end", async ({
  browser,
}) => {
  test.setTimeout(300_000); // on a machine that may be busy
  const server = await startServer({ vars: cheapWork });
  try {
    const site = toSite(server);
    const people = await makeFriends(site, 1, 5);
    const [ana, eli, ...others] = people;
    if (!ana || !eli) throw new Error("five people");
    const group = await makeGroup(site, ana, "Marché central", people.slice(1));
    const open = async (person: Person) => {
      const phone = await TestClient.open(browser, server);
      await phone.signIn(person, `/app/group/${group}`);
      await expect(phone.composer()).toBeVisible({ timeout: 30_000 });
      return phone;
    };
    const [anas, elis] = await Promise.all([open(ana), open(eli)]);
    const devices = await Promise.all(others.map((person) => AppDevice.open(server.origin, person)));
    const writers = [
      ...[anas, elis].map((phone) => (texts: string[]) => phone.writeAll(texts)),
      ...devices.map((device) => async (texts: string[]) => {
        for (const text of texts) await device.sendText(group, text);
      }),
    ];
    const readLogs = () =>
      Promise.all([
        ...[anas, elis].map(({ page }) => readLocalLog(page, group)),
        ...devices.map(async (device) => (await device.listMessages(group)).map(toLogLine)),
      ]);
    const texts = people.map((_, i) => Array.from({ length: textsEach }, (_, n) => `auteur ${i} message ${n + 1}`));

    const total = 1 + people.length * textsEach; // with the "created" message
    await Promise.all(writers.map((write, i) => write(texts[i]?.slice(0, whileAlive) ?? [])));
    const countHeld = async () => (await readLocalLog(anas.page, group)).length;
    await expect.poll(countHeld, { timeout: 60_000 }).toBeGreaterThan(textsEach);
    const writing = writers.map((write, i) => write(texts[i]?.slice(whileAlive) ?? []));
    await server.kill();
    const acknowledged = new Map<number, string>();
    for (const { seq, text } of (await readLogs()).flat()) acknowledged.set(seq, text);
    expect(acknowledged.size).toBeLessThan(total); // the server died in between
    await Promise.all(writing);
    await server.restart();
    const restartedAt = performance.now();
    for (const { page } of [anas, elis]) await expect.poll(() => countOutbox(page), { timeout: 60_000 }).toBe(0);
    for (const device of devices) await expect.poll(() => device.countUnsent(), { timeout: 60_000 }).toBe(0);

    const log = await readServerLog(site, ana, group);
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: total }, (_, i) => i + 1));
    await expect.poll(readLogs, { timeout: 60_000 }).toEqual(people.map(() => log));
    const equalAfter = `${((performance.now() - restartedAt) / 1_000).toFixed(1)} s`;
    for (const [seq, text] of acknowledged) expect(log[seq - 1]?.text).toBe(text);
    for (const [i, written] of texts.entries()) {
      expect(log.filter(({ sender, seq }) => sender === i && seq > 1).map(({ text }) => text)).toEqual(written);
    }

    // The removal is accepted, and the server dies before anybody can have been notified again.
    const { groups } = anas.texts;
    await anas.openRoute(`/app/group/${group}/members`);
    await anas.page.getByRole("button", { name: fill(groups.page.memberMenu, { name: eli.username }) }).click();
    await anas.page.getByRole("menuitem", { name: groups.remove.action }).click();
    const done = anas.page.waitForResponse((response) => response.request().method() === "DELETE" && response.ok());
    await anas.page.getByRole("alertdialog").getByRole("button", { name: groups.remove.confirm }).click();
    await done;
    await server.kill();
    await server.restart();
    await expect(elis.page.getByText(groups.chat.notMember)).toBeVisible({ timeout: 60_000 });

    await Promise.all(devices.map((device, i) => device.sendText(group, `encore là ${i}`)));
    await anas.openRoute(`/app/group/${group}`);
    await anas.write("encore là aussi");
    const count = total + 1 + devices.length + 1; // with the removal
    await expect.poll(async () => (await readServerLog(site, ana, group)).length, { timeout: 60_000 }).toBe(count);
    const after = await readServerLog(site, ana, group);
    expect(after.map(({ seq }) => seq)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
    expect(after.slice(0, total)).toEqual(log);
    const readStaying = async () => (await readLogs()).filter((_, i) => people[i] !== eli);
    await expect.poll(readStaying, { timeout: 30_000 }).toEqual(people.slice(1).map(() => after));
    expect(JSON.stringify(await readLocalLog(elis.page, group))).not.toContain("encore là");
    const shown = after.map(({ text }) => text).filter((text) => text !== "<event>");
    const first = shown[0] ?? "";
    const lines = await readScreen(anas.page, first);
    expect(lines.filter((text) => shown.includes(text))).toEqual(shown);
    await Promise.all(devices.map((device) => device.close()));
    test.info().annotations.push({ type: "measured", description: `all were equal ${equalAfter} after the restart` });
  } finally {
    await server.stop();
  }
});
