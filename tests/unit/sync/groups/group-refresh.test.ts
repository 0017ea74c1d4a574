import { describe, expect, it } from "vitest";
import { syncMemberListWithRetry } from "#sync/inbound/member-loader.ts";
import { readMembers } from "#sync/store/members.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makeGroup } from "#tests/support/model/model-fixtures.ts";

const quietMs = 20_000; // longer than any pause after so few failures

/** Amina's phone, in sync and online, which has not requested the members of her group yet. */
const openPhone = async () => {
  const { server, amina, group } = makeGroup();
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  await waitUntilDeviceSynced(server, tab, group);
  const { platform, ...rest } = getContext(tab);
  const pauses: number[] = [];
  const after: typeof platform.startTimer = (ms, run) => {
    pauses.push(ms);
    return platform.startTimer(ms, run);
  };
  const context = { ...rest, platform: { ...platform, startTimer: after } };
  const failures: string[] = [];
  return {
    server,
    phone,
    tab,
    failures,
    pauses,
    bring: () => syncMemberListWithRetry(context, group, (code) => failures.push(code)),
    asked: () => phone.requests.filter(({ path }) => path.includes("/members?")).length,
    listed: async () => (await readMembers(context.store, amina, group)).members.map(({ username }) => username),
  };
};

describe("a list of members that a screen waits for", () => {
  it("is retried by itself when requests failed on a working socket, and not requested after that", async () => {
    const { phone, tab, failures, bring, asked, listed } = await openPhone();
    const links: string[] = [];
    tab.link.subscribe(() => links.push(tab.link.get()));
    phone.shouldLose = ({ path }, what) => what === "request" && path.includes("/members?") && asked() <= 3;
    bring();
    await eventually(async () => expect(await listed()).toEqual(["Amina", "Benoît", "Chantal"]));
    expect(failures).toEqual(["offline", "offline", "offline"]);
    expect(links).toEqual([]);
    await phone.pass(quietMs);
    expect(asked()).toBe(4);
  });

  it("is retried with growing pauses, and no more once no screen waits", async () => {
    const { server, phone, failures, pauses, bring, asked } = await openPhone();
    server.refuseGroup = () => ({ error: "unavailable" });
    phone.faults.random = () => 1; // each pause at its maximum
    const stop = bring();
    await eventually(() => expect(failures).toHaveLength(4));
    stop();
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000]);
    await phone.pass(quietMs);
    expect(asked()).toBe(4);
  });

  it("is neither reported as failed nor retried when no screen waits for the answer any more", async () => {
    const { phone, failures, bring, asked } = await openPhone();
    phone.answerMs = 5_000;
    phone.shouldLose = (_, what) => what === "answer";
    const stop = bring();
    await eventually(() => expect(asked()).toBe(1));
    stop();
    await phone.pass(quietMs);
    expect(failures).toEqual([]);
    expect(asked()).toBe(1);
  });

  it("is requested at once by a caller who does not wait for the next retry", async () => {
    const { server, phone, failures, pauses, bring, asked, listed } = await openPhone();
    server.refuseGroup = () => ({ error: "unavailable", retryAfterMs: 600_000 });
    const stop = bring();
    await eventually(() => expect(failures).toEqual(["unavailable"]));
    server.refuseGroup = () => undefined;
    await phone.pass(quietMs); // The server said how long to wait.
    expect(pauses).toEqual([600_000]);
    expect(asked()).toBe(1);
    stop();
    bring();
    await eventually(async () => expect(await listed()).toHaveLength(3));
    expect(asked()).toBe(2);
  });

  it("is requested once if refused permanently", async () => {
    const { server, phone, failures, bring, asked } = await openPhone();
    server.refuseGroup = () => ({ error: "group_not_found" });
    bring();
    await eventually(() => expect(failures).toEqual(["group_not_found"]));
    await phone.pass(quietMs);
    expect(asked()).toBe(1);
  });
});
