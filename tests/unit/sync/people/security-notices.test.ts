import { describe, expect, it } from "vitest";
import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import { createUuid } from "#contract/ids.ts";
import { securityNoticesMax } from "#contract/limits/authentication.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { deleteAllButUnsent } from "#sync/store/open-database.ts";
import { listUnseenNotices, markNoticesSeen, markResetNoticesSeen } from "#sync/store/security-notice-rows.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const makeNotice = (more: Partial<SecurityNotice> = {}): SecurityNotice => {
  const at = Date.now();
  return { id: createUuid(at), event: "signed_in", at, session: null, device: "Chrome · Android", ...more };
};
const unseen = async (tab: SyncClient) =>
  (await listUnseenNotices(getContext(tab).store, Date.now())).map(({ event }) => event);
const comesToTell = (tab: SyncClient, events: SecurityNotice["event"][]) =>
  eventually(async () => expect(await unseen(tab)).toEqual(events));
const dueLater = () => Date.now() + 1_000_000;

describe("security notices", () => {
  it("are shown by a phone at once, and by one that was offline when it returns, in order", async () => {
    const { server, amina } = makePair();
    const [phone, desk] = [makeDevice(server, amina), makeDevice(server, amina)];
    const [here, there] = [await phone.openTab(), await desk.openTab()];
    desk.faults.isOffline = true;
    server.addSecurityNotice(amina, makeNotice());
    await comesToTell(here, ["signed_in"]);
    server.addSecurityNotice(amina, makeNotice({ event: "password_changed" }));
    await comesToTell(here, ["signed_in", "password_changed"]);
    expect(await unseen(there)).toEqual([]);
    desk.faults.isOffline = false;
    desk.wake();
    await comesToTell(there, ["signed_in", "password_changed"]);
  });

  it("are dismissed in all tabs of a phone, also after a reload and a repetition, and stay on another phone", async () => {
    const { server, amina } = makePair();
    const [phone, desk] = [makeDevice(server, amina), makeDevice(server, amina)];
    const [first, second, there] = [await phone.openTab(), await phone.openTab(), await desk.openTab()];
    const notice = makeNotice();
    server.addSecurityNotice(amina, notice);
    await comesToTell(second, ["signed_in"]);
    await markNoticesSeen(getContext(first).store, [notice.id]);
    await comesToTell(second, []);
    await comesToTell(there, ["signed_in"]);
    server.recreateInbox(amina);
    server.addSecurityNotice(amina, makeNotice({ event: "passkey_added" }));
    await comesToTell(second, ["passkey_added"]);
    await phone.kill(first);
    expect(await unseen(await phone.openTab())).toEqual(["passkey_added"]);
  });

  it("warn of a reset of the second factor until it is cancelled, done or over, or the warning is dismissed", async () => {
    const { server, amina } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    server.addSecurityNotice(amina, makeNotice({ event: "reset_started", due_at: dueLater() }));
    await comesToTell(tab, ["reset_started"]);
    server.addSecurityNotice(amina, makeNotice({ event: "reset_cancelled" }));
    await comesToTell(tab, ["reset_cancelled"]);
    server.addSecurityNotice(amina, makeNotice({ event: "reset_started", due_at: Date.now() - 1 }));
    server.addSecurityNotice(amina, makeNotice({ event: "reset_started", due_at: dueLater(), at: Date.now() + 1 }));
    await comesToTell(tab, ["reset_cancelled", "reset_started"]);
    await markResetNoticesSeen(getContext(tab).store);
    await comesToTell(tab, ["reset_cancelled"]);
  });

  it("are limited in number, and are deleted with the account's data", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    for (let n = 0; n <= securityNoticesMax; n++) server.addSecurityNotice(amina, makeNotice());
    server.addSecurityNotice(amina, makeNotice({ event: "email_changed" }));
    await eventually(async () => expect((await unseen(tab)).at(-1)).toBe("email_changed"));
    expect(await unseen(tab)).toHaveLength(securityNoticesMax);
    const { platform } = getContext(tab);
    await phone.kill(tab);
    await deleteAllButUnsent(platform, amina);
    phone.faults.isOffline = true;
    expect(await unseen(await phone.openTab())).toEqual([]);
  });
});
