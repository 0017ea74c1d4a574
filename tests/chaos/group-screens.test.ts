import { expect, test } from "#tests/support/browser/closing-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { expectSameLogs, makeFriends } from "#tests/support/people/friends.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { countOutbox, readLocalLog, readScreen, readServerLog } from "#tests/support/server/logs.ts";
import { cheapWork, startServer } from "#tests/support/server/server.ts";

const textsEach = 24;
const whileAlive = 10; // the server dies while the rest is written

test("the runtime dies while five people write in a group, and as one of them is removed: each screen is right in the end", async ({
  browser,
}) => {
  test.setTimeout(300_000); // on a machine that may be busy
  const server = await startServer({ vars: cheapWork });
  try {
    const site = toSite(server);
    const people = await makeFriends(site, 1, 5);
    const [ana, , , , eli] = people;
    if (!ana || !eli) throw new Error("five people");
    const group = await makeGroup(site, ana, "Marché central", people.slice(1));
    const phones = await Promise.all(
      people.map(async (person) => {
        const phone = await TestClient.open(browser, server);
        await phone.signIn(person, `/app/group/${group}`);
        await expect(phone.composer()).toBeVisible({ timeout: 30_000 });
        return phone;
      }),
    );
    const [anas, , , , elis] = phones;
    if (!anas || !elis) throw new Error("five phones");
    const texts = people.map((_, i) => Array.from({ length: textsEach }, (_, n) => `auteur ${i} message ${n + 1}`));

    const total = 1 + people.length * textsEach; // with the "created" message
    await Promise.all(phones.map((phone, i) => phone.writeAll(texts[i]?.slice(0, whileAlive) ?? [])));
    const countHeld = async () => (await readLocalLog(anas.page, group)).length;
    await expect.poll(countHeld, { timeout: 60_000 }).toBeGreaterThan(textsEach);
    const writing = phones.map((phone, i) => phone.writeAll(texts[i]?.slice(whileAlive) ?? []));
    await server.kill();
    const acknowledged = new Map<number, string>();
    for (const { page } of phones) {
      for (const { seq, text } of await readLocalLog(page, group)) acknowledged.set(seq, text);
    }
    expect(acknowledged.size).toBeLessThan(total); // the server died in between
    await Promise.all(writing);
    await server.restart();
    const restartedAt = performance.now();
    for (const { page } of phones) await expect.poll(() => countOutbox(page), { timeout: 60_000 }).toBe(0);

    const log = await expectSameLogs(phones, group, 1, total);
    const equalAfter = `${((performance.now() - restartedAt) / 1_000).toFixed(1)} s`;
    expect(await readServerLog(site, ana, group)).toEqual(log);
    for (const [seq, text] of acknowledged) expect(log[seq - 1]?.text).toBe(text);
    for (const [i, written] of texts.entries()) {
      expect(log.filter(({ sender, seq }) => sender === i && seq > 1).map(({ text }) => text)).toEqual(written);
    }

    // The removal is accepted, and the server dies before anybody can have been notified again.
    const { groups } = anas.texts;
    await anas.goTo(`/app/group/${group}/members`);
    await anas.page.getByRole("button", { name: fill(groups.page.memberMenu, { name: eli.username }) }).click();
    await anas.page.getByRole("menuitem", { name: groups.remove.action }).click();
    const done = anas.page.waitForResponse((response) => response.request().method() === "DELETE" && response.ok());
    await anas.page.getByRole("alertdialog").getByRole("button", { name: groups.remove.confirm }).click();
    await done;
    await server.kill();
    await server.restart();
    await expect(elis.page.getByText(groups.chat.notMember)).toBeVisible({ timeout: 60_000 });

    const staying = phones.slice(0, -1);
    const screens = staying.map(async (phone) => {
      await phone.goTo(`/app/group/${group}`);
      await phone.write(`encore là ${staying.indexOf(phone)}`);
    });
    await Promise.all(screens);
    const after = await expectSameLogs(staying, group, 1, total + 1 + staying.length);
    expect(after.slice(0, total)).toEqual(log);
    expect(JSON.stringify(await readLocalLog(elis.page, group))).not.toContain("encore là");
    const shown = after.map(({ text }) => text).filter((text) => text !== "<event>");
    const first = shown[0] ?? "";
    const lines = await readScreen(anas.page, first);
    expect(lines.filter((text) => shown.includes(text))).toEqual(shown);
    test.info().annotations.push({ type: "measured", description: `all were equal ${equalAfter} after the restart` });
  } finally {
    await server.stop();
  }
});
