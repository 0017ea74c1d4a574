import { afterEach, describe, expect, it } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { memberPageRows } from "#contract/limits/groups.ts";
import {
  addGroupMembers,
  changeGroupName,
  changeGroupPicture,
  createGroupChat,
  deleteGroupForEveryone,
  leaveGroup,
  removeGroupMember,
  transferGroupOwnership,
} from "#sync/actions/groups.ts";
import { currentEngine, type SyncEngine } from "#sync/engine/engine.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { syncMemberList } from "#sync/inbound/member-loader.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { readMemberProfiles, readMembers } from "#sync/store/members.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listConversations, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makeGroup } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";

/** A group that Amina owns, with this many others. */
const makeCrowd = (others: number) => {
  const { server, amina } = makeGroup();
  const people = Array.from({ length: others }, (_, n) => server.addPerson(`Person ${n + 1}`));
  return { server, amina, people, group: server.createGroup(amina, "Everybody", people) };
};

const queries = (server: ModelServer) =>
  server.groupRequests
    .filter(({ request }) => request.path.includes("/members?"))
    .map(({ request }) => request.path.split("?")[1] ?? "");

const namesOf = async (tab: SyncClient, group: Uuid, numbers: readonly number[]) => {
  const { store, me } = getContext(tab);
  const authors = await readMemberProfiles(store, me, group, numbers);
  return numbers.map((number) => authors[number]?.name);
};

const listed = async (tab: SyncClient, group: Uuid) => {
  const { store, me } = getContext(tab);
  const { members, roster } = await readMembers(store, me, group);
  return { names: members.map(({ username }) => username), roster };
};

describe("the people behind member numbers", () => {
  it("are requested together, once, and at most a page at a time", async () => {
    const { server, amina, group } = makeCrowd(memberPageRows + 20);
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const all = Array.from({ length: memberPageRows + 10 }, (_, n) => n + 1);
    tab.memberLoader.requestMembers(group, [0]); // The user's own profile needs no request.
    tab.memberLoader.requestMembers(group, all.slice(0, 20));
    tab.memberLoader.requestMembers(group, all);
    tab.memberLoader.requestMembers(group, [3]);
    await eventually(async () => expect((await namesOf(tab, group, all)).at(-1)).toBe(`Person ${all.length}`));
    expect(queries(server).map((query) => query.split(",").length)).toEqual([memberPageRows, 10]);
    tab.memberLoader.requestMembers(group, all);
    await phone.pass(5_000);
    expect(queries(server)).toHaveLength(2);
    // An unassigned number is not requested repeatedly.
    tab.memberLoader.requestMembers(group, [9_999]);
    await eventually(() => expect(queries(server)).toHaveLength(3));
    for (let i = 0; i < 2; i++) {
      tab.memberLoader.requestMembers(group, [9_999]);
      await phone.pass(2_000);
    }
    expect(queries(server)).toHaveLength(3);
    // Old data is requested again.
    await getContext(tab).store.members.update([group, 5], { at: phone.now() - 25 * 3_600_000 });
    tab.memberLoader.requestMembers(group, all);
    await eventually(() => expect(queries(server).slice(3)).toEqual(["numbers=5"]));
  });

  it("are requested when the connection is back, again after a server failure, and not after a permanent refusal", async () => {
    const { server, amina, group } = makeCrowd(5);
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    phone.faults.isOffline = true;
    for (const socket of phone.sockets) socket.end(1006);
    await eventually(() => expect(tab.link.get()).not.toBe("online"));
    tab.memberLoader.requestMembers(group, [1, 2]);
    await phone.pass(10_000);
    expect(queries(server)).toEqual([]);
    let refusals = 0;
    server.refuseGroup = () => (++refusals <= 3 ? { error: "unavailable" } : undefined);
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(async () => expect(await namesOf(tab, group, [1, 2])).toEqual(["Person 1", "Person 2"]));
    expect(queries(server)).toEqual(Array(4).fill("numbers=1,2"));
    server.refuseGroup = () => ({ error: "group_not_found" });
    tab.memberLoader.requestMembers(group, [3]);
    await eventually(() => expect(queries(server)).toHaveLength(5));
    await phone.pass(60_000);
    expect(queries(server)).toHaveLength(5);
  });

  it("are requested once for two tabs, also by a follower", async () => {
    const { server, amina, group } = makeCrowd(5);
    const phone = makeDevice(server, amina);
    const leader = await phone.openTab();
    const follower = await phone.openTab();
    await waitUntilDeviceSynced(server, leader, group);
    await eventually(() => expect(follower.link.get()).toBe("online"));
    follower.memberLoader.requestMembers(group, [1, 2]);
    await eventually(async () => expect(await namesOf(leader, group, [1, 2])).toEqual(["Person 1", "Person 2"]));
    leader.memberLoader.requestMembers(group, [1, 2]);
    follower.memberLoader.requestMembers(group, [1, 2, 3]);
    await eventually(async () => expect(await namesOf(leader, group, [3])).toEqual(["Person 3"]));
    await phone.pass(5_000);
    expect(queries(server)).toEqual(["numbers=1,2", "numbers=3"]);
  });

  it("have the current names of contacts and the user, and otherwise those the server sent for the group", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const tab = await makeDevice(server, benoit).openTab();
    await waitUntilDeviceSynced(server, tab, group);
    await eventually(async () => expect(await getContext(tab).store.meta.get("me")).toBeDefined());
    await syncMemberList(getContext(tab), group);
    expect(await namesOf(tab, group, [0, 1, 2, 3])).toEqual(["Amina", "Benoît", "Chantal", undefined]);
    const known = server.inbox(benoit).people.get(amina)?.relation;
    if (!known) throw new Error("no relation");
    const renamed = { ...known.profile, username: "Amina M." };
    server.updateContact(benoit, { ...known, profile: renamed });
    const { store, me } = getContext(tab);
    const own = (await store.meta.get("me"))?.value as PersonRow;
    await store.meta.put({ key: "me", value: { ...own, username: "Ben" } });
    await eventually(async () => expect(await namesOf(tab, group, [0, 1])).toEqual(["Amina M.", "Ben"]));
    expect((await listed(tab, group)).names).toEqual(["Amina M.", "Ben", "Chantal"]);
    expect((await readMemberProfiles(store, me, group, [1]))[1]).toMatchObject({ user: benoit, me: true });
    // A former contact does not keep an outdated name.
    server.updateContact(benoit, { ...known, profile: renamed, state: "none", connection_id: null });
    await eventually(async () => expect(await namesOf(tab, group, [0])).toEqual(["Amina"]));
  });

  it("of a group are requested again after returning to it", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const tab = await makeDevice(server, benoit).openTab();
    await waitUntilDeviceSynced(server, tab, group);
    tab.memberLoader.requestMembers(group, [2]);
    await eventually(async () => expect(await namesOf(tab, group, [2])).toEqual(["Chantal"]));
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await eventually(async () => expect(await namesOf(tab, group, [2])).toEqual([undefined]));
    tab.memberLoader.requestMembers(group, [2]);
    server.changeGroup(amina, group, { type: "add", users: [benoit] });
    await waitUntilDeviceSynced(server, tab, group);
    tab.memberLoader.requestMembers(group, [2]);
    await eventually(async () => expect(await namesOf(tab, group, [2])).toEqual(["Chantal"]));
  });
});

describe("the complete list of members", () => {
  it("is read page by page once, and then only changes since, including members who left", async () => {
    const { server, amina, people, group } = makeCrowd(10);
    const [first = "", second = ""] = people;
    server.membersPerPage = 4;
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, group);
    await syncMemberList(getContext(tab), group);
    expect(await listed(tab, group)).toMatchObject({ roster: 1, names: expect.arrayContaining(["Person 10"]) });
    expect((await listed(tab, group)).names).toHaveLength(11);
    expect(queries(server)).toEqual(["since=0&after=0", "since=0&after=4", "since=0&after=8"]);
    server.changeGroup(amina, group, { type: "remove", user: first });
    server.changeGroup(amina, group, { type: "handOver", user: second });
    const late = server.addPerson("Late");
    server.changeGroup(second, group, { type: "add", users: [late] });
    await waitUntilDeviceSynced(server, tab, group);
    await syncMemberList(getContext(tab), group);
    const { names, roster } = await listed(tab, group);
    expect(names).toHaveLength(11);
    expect(names).not.toContain("Person 1");
    expect(names).toContain("Late");
    expect(roster).toBe(4);
    expect(queries(server).slice(3)).toEqual(["since=1&after=0"]);
    expect(await getContext(tab).store.members.get([group, 2])).toMatchObject({ role: "owner" });
    expect(await namesOf(tab, group, [1])).toEqual(["Person 1"]);
  });

  it("does not contain a person who was mentioned before and left before the first read", async () => {
    const { server, amina, people, group } = makeCrowd(3);
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, group);
    tab.memberLoader.requestMembers(group, [1]);
    await eventually(async () => expect(await namesOf(tab, group, [1])).toEqual(["Person 1"]));
    server.changeGroup(people[0] ?? "", group, { type: "leave" });
    await syncMemberList(getContext(tab), group);
    expect((await listed(tab, group)).names).toEqual(["Amina", "Person 2", "Person 3"]);
  });

  it("does not list a person again who left before an older answer that names them arrives", async () => {
    const { server, amina, people, group } = makeCrowd(3);
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    server.changeGroup(people[1] ?? "", group, { type: "leave" });
    await syncMemberList(getContext(tab), group);
    await getContext(tab).store.members.update([group, 1], { at: 0 });
    phone.answerMs = 20_000;
    tab.memberLoader.requestMembers(group, [1, 2]);
    await eventually(() => expect(queries(server)).toHaveLength(2));
    phone.answerMs = 0;
    server.changeGroup(amina, group, { type: "remove", user: people[0] ?? "" });
    await syncMemberList(getContext(tab), group);
    expect((await listed(tab, group)).names).toEqual(["Amina", "Person 3"]);
    await eventually(async () => expect(await namesOf(tab, group, [2])).toEqual(["Person 2"]));
    expect((await listed(tab, group)).names).toEqual(["Amina", "Person 3"]);
  });

  it("does not contain a person named by an answer that was sent while they left", async () => {
    const { server, amina, people, group } = makeCrowd(3);
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    phone.answerMs = 20_000;
    tab.memberLoader.requestMembers(group, [1]);
    await eventually(() => expect(queries(server)).toHaveLength(1));
    phone.answerMs = 0;
    server.changeGroup(people[0] ?? "", group, { type: "leave" });
    await syncMemberList(getContext(tab), group);
    await eventually(async () => expect(await namesOf(tab, group, [1])).toEqual(["Person 1"]));
    expect((await listed(tab, group)).names).toEqual(["Amina", "Person 2", "Person 3"]);
  });

  it("is not complete if its group disappeared and returned during the request", async () => {
    const { server, amina, benoit, chantal, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    await syncMemberList(getContext(tab), group);
    server.changeGroup(chantal, group, { type: "leave" });
    phone.answerMs = 20_000;
    const late = syncMemberList(getContext(tab), group);
    await eventually(() => expect(queries(server)).toHaveLength(2));
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await eventually(async () => expect((await listed(tab, group)).names).toEqual([]));
    server.changeGroup(amina, group, { type: "add", users: [benoit] });
    await waitUntilDeviceSynced(server, tab, group);
    phone.answerMs = 0;
    await late;
    expect(await listed(tab, group)).toMatchObject({ roster: 0 });
    await syncMemberList(getContext(tab), group);
    expect((await listed(tab, group)).names).toEqual(["Amina", "Benoît"]);
  });

  it("rejects with the reason of a failure, and is complete after a retry", async () => {
    const { server, amina, group } = makeCrowd(10);
    server.membersPerPage = 4;
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    let requests = 0;
    phone.shouldLose = ({ path }, what) => what === "answer" && path.includes("/members?") && ++requests === 2;
    await expect(syncMemberList(getContext(tab), group)).rejects.toMatchObject({ code: "offline" });
    expect(await listed(tab, group)).toMatchObject({ roster: 0 });
    await syncMemberList(getContext(tab), group);
    expect(await listed(tab, group)).toMatchObject({ roster: 1 });
    expect((await listed(tab, group)).names).toHaveLength(11);
  });
});

describe("commands to a group", () => {
  afterEach(() => currentEngine.set(undefined));

  const use = (tab: SyncClient) => currentEngine.set({ userId: tab.me, client: tab } as SyncEngine);
  const cardOf = async (tab: SyncClient, group: Uuid) =>
    (await listConversations(tab)).find(({ id }) => id === group)?.group;

  it.each([
    ["with a socket", false],
    ["by HTTP alone", true],
  ])("apply here once confirmed, and may be repeated (%s)", async (_, noUpgrade) => {
    const { server, amina, benoit, chantal } = makeGroup();
    const phone = makeDevice(server, amina);
    phone.faults.noUpgrade = noUpgrade;
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    use(tab);
    const id = createUuid();
    const wanted = { id, name: "Football", members: [benoit] };
    let answers = 0;
    phone.shouldLose = ({ path }, what) => path === "/api/groups" && what === "answer" && ++answers === 1;
    // With a lost answer it is confirmed by its notice, or not reported as done.
    await createGroupChat(wanted).catch((error: unknown) => expect(error).toMatchObject({ code: "offline" }));
    const asked = tab.platform.now();
    await createGroupChat(wanted);
    expect(tab.platform.now() - asked).toBeLessThan(8_000);
    expect(await cardOf(tab, id)).toMatchObject({ name: "Football", count: 2, role: "owner" });
    await changeGroupPicture(id, new Blob(["picture"], { type: "image/png" }));
    const level = () => waitUntilDeviceSynced(server, tab, id);
    await level();
    expect(await cardOf(tab, id)).toMatchObject({ picture: `${id}_7` });
    for (let i = 0; i < 2; i++) {
      await changeGroupName(id, "Foot");
      await addGroupMembers(id, [chantal]);
      await changeGroupPicture(id, null);
    }
    await removeGroupMember(id, benoit);
    await removeGroupMember(id, benoit);
    await level();
    expect(await cardOf(tab, id)).toMatchObject({ name: "Foot", count: 2, picture: null });
    expect(server.log(id).messages.map(({ body }) => (body.type === "event" ? body.event : body.type))).toEqual([
      "created",
      "pictured",
      "renamed",
      "added",
      "unpictured",
      "removed",
    ]);
    await transferGroupOwnership(id, chantal);
    await expect(changeGroupName(id, "Not mine")).rejects.toMatchObject({ code: "not_allowed" });
    phone.shouldLose = ({ method }, what) => method === "DELETE" && what === "answer";
    await leaveGroup(id);
    phone.shouldLose = () => false;
    expect(await cardOf(tab, id)).toBeUndefined();
    expect(await getContext(tab).store.conversations.get(id)).toMatchObject({ gone: true });
    const other = createUuid();
    await createGroupChat({ id: other, name: "Ends", members: [benoit] });
    await deleteGroupForEveryone(other);
    expect(await cardOf(tab, other)).toBeUndefined();
  });
});
