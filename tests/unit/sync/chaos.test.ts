import { afterAll, describe, expect, it } from "vitest";
import { type ConversationId, privateMembers, type Uuid } from "#contract/ids.ts";
import { filePartBytes } from "#contract/limits/files.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { isTombstone } from "#contract/messages/kinds.ts";
import {
  clearConversationHistory,
  deleteMessageBySeq,
  setConversationMuted,
  setMessagePinned,
} from "#sync/commands/conversation-commands.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { syncMemberList } from "#sync/inbound/member-loader.ts";
import { ReadTracker } from "#sync/inbound/read-tracker.ts";
import { editOwnMessage } from "#sync/operations/edit-message.ts";
import { deleteMessageForSelf, setMessageStarred } from "#sync/operations/set-message-flags.ts";
import { setPendingReaction } from "#sync/operations/set-reaction.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { toChatItem } from "#sync/queries/chat-messages.ts";
import { readStarredMessages } from "#sync/queries/starred-messages.ts";
import { discardUnsentMessage } from "#sync/sending/discard-message.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { enqueueFiles } from "#sync/sending/files/send-files.ts";
import { enqueueBroadcast, enqueueForward } from "#sync/sending/multicast.ts";
import { readMembers } from "#sync/store/members.ts";
import type { ReplyTarget } from "#sync/unsent/draft-row.ts";
import { listOutbox, listUnsent } from "#sync/unsent/messages.ts";
import { edits, messageFlags, reactions, unsentDeletions } from "#sync/unsent/operations.ts";
import { toSimulationSize } from "#tests/support/long-run.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { expectSynced, getContext } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice } from "#tests/support/model/model-fixtures.ts";
import { ModelServer } from "#tests/support/model/model-server.ts";
import type { Faults } from "#tests/support/model/model-socket.ts";

/** mulberry32: a small seeded generator, good enough to choose faults. */
const seeded = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

const usualSeeds = [1, 4, 6];
const fullSeeds = Array.from({ length: 24 }, (_, index) => index + 1);
const seeds = process.env["SYNC_SEEDS"]?.split(",").map(Number) ?? toSimulationSize(usualSeeds, fullSeeds);
const steps = 60;

/** A person's device in the test: its tabs are opened and closed, and everything typed and done on it is recorded. */
type Actor = {
  device: ModelDevice;
  tabs: SyncClient[];
  typed: Map<ConversationId, string[]>;
  /** Names of files, and the conversations they were sent to. */
  attached: { name: string; chat: ConversationId }[];
  forwards: number;
  /** Client ids of messages deleted before they were known to have arrived. */
  withdrawn: { cid: Uuid; chat: ConversationId }[];
  /** Texts of replies, with the texts that they answer. */
  replies: { chat: ConversationId; text: string; answered: string }[];
};

const fileBytes = filePartBytes + 500;

/** The text as it was typed first, which an edit of this test only extends. */
const toTyped = (text: string): string => text.replace(/ \(edit \d+\)$/, "");

/** Done, or refused without a network: a user may retry. */
const orOffline = (work: Promise<unknown>) =>
  work.catch((error: unknown) => {
    if (!(error instanceof SyncError)) throw error;
  });

const storm = (random: () => number): Partial<Faults> => ({
  delay: random() < 0.5 ? 5 : 0,
  dropDown: random() < 0.5 ? 0.3 : 0,
  dropAck: random() < 0.4 ? 0.3 : 0,
  duplicateDown: random() < 0.4 ? 0.3 : 0,
  reorderDown: random() < 0.4 ? 0.3 : 0,
  cut: random() < 0.4 ? 0.02 : 0,
  noUpgrade: random() < 0.15,
  blackhole: random() < 0.1,
  isOffline: random() < 0.2,
});

const calm: Partial<Faults> = {
  delay: 0,
  dropDown: 0,
  dropAck: 0,
  duplicateDown: 0,
  reorderDown: 0,
  cut: 0,
  noUpgrade: false,
  blackhole: false,
  isOffline: false,
};

/** A text to answer: the newest unsent one of this device, or any stored one. */
const findAnswered = async (
  tab: SyncClient,
  chat: ConversationId,
  random: () => number,
): Promise<{ target: ReplyTarget; text: string } | undefined> => {
  const { store } = getContext(tab);
  const unsent = listUnsent(tab.unsent, chat);
  const stored = await store.queryMessages(chat, 1).toArray();
  const candidates = [
    ...unsent.slice(-1).map(({ cid, body }) => ({ target: cid, body })),
    ...stored.map(({ seq, body }) => ({ target: seq, body })),
  ].flatMap(({ target, body }) =>
    body.type === "text" && !body.forwarded ? { target, text: toTyped(body.text) } : [],
  );
  return random() < 0.5 ? candidates[0] : candidates.at(-1);
};

const act = async (
  server: ModelServer,
  actor: Actor,
  chats: ConversationId[],
  name: string,
  n: number,
  random: () => number,
) => {
  const { device, tabs, typed } = actor;
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const choice = random();
  if (choice < 0.08 || tabs.length === 0) {
    if (tabs.length < 3) tabs.push(await device.openTab());
    return undefined;
  }
  const tab = pick(tabs);
  if (choice < 0.16) {
    tabs.splice(tabs.indexOf(tab), 1);
    return random() < 0.5 ? device.kill(tab) : device.close(tab);
  }
  if (choice < 0.3) return void Object.assign(device.faults, storm(random));
  if (choice < 0.36) return device.wake();
  if (choice < 0.4) return server.recreateInbox(device.user);
  const chat = pick(chats);
  if (choice < 0.43 && !privateMembers(chat)) {
    tab.memberLoader.requestMembers(chat, [0, 1, 2]);
    return orOffline(syncMemberList(getContext(tab), chat));
  }
  if (choice < 0.5) {
    const row = await getContext(tab).store.conversations.get(chat);
    const viewed = new ReadTracker(tab);
    viewed.markRead(chat, row?.storedTo ?? 0);
    return viewed.flush();
  }
  const { store } = getContext(tab);
  const messages = await store.queryMessages(chat, 1).toArray();
  if (choice < 0.58) {
    const texts = listUnsent(tab.unsent, chat).filter(({ body }) => body.type === "text" && !body.forwarded);
    const cid = texts[0]?.cid; // the one most likely to have arrived
    if (cid !== undefined && (await discardUnsentMessage(tab, cid))) actor.withdrawn.push({ cid, chat });
    return undefined;
  }
  if (choice < 0.62) {
    const ownTexts = messages.filter(({ mine, body }) => mine === 1 && body.type === "text" && !body.forwarded);
    const message = ownTexts.length > 0 ? pick(ownTexts) : undefined;
    if (random() < 0.5) return message && orOffline(deleteMessageBySeq(tab, chat, message.seq));
    const unsent = listUnsent(tab.unsent, chat).filter(
      ({ body, state }) => body.type === "text" && !body.forwarded && state !== "failed",
    );
    const edited = unsent.length > 0 && random() < 0.5 ? { cid: pick(unsent).cid } : message;
    const { body } = unsent.find(({ cid }) => cid === edited?.cid) ?? message ?? {};
    if (!edited || body?.type !== "text") return undefined;
    return orOffline(editOwnMessage(tab, chat, edited, `${toTyped(body.text)} (edit ${n})`));
  }
  if (choice < 0.64) {
    const [unsent] = listUnsent(tab.unsent, chat);
    const stored = messages.filter(({ body }) => body.type === "text");
    const target = unsent && random() < 0.3 ? { cid: unsent.cid } : stored.length > 0 ? pick(stored) : undefined;
    return target && setPendingReaction(tab, chat, target, pick(["👍", "❤️", "😂", null]));
  }
  if (choice < 0.66) {
    const { seq } = messages.length > 0 ? pick(messages) : { seq: undefined };
    if (seq === undefined) return undefined;
    return random() < 0.7
      ? setMessageStarred(tab, chat, seq, random() < 0.7)
      : orOffline(deleteMessageForSelf(tab, chat, seq));
  }
  if (choice < 0.665) return orOffline(setConversationMuted(tab, chat, random() < 0.5));
  // Hiding a group that is gone discards its unsent messages.
  if (choice < 0.67)
    return privateMembers(chat) ? orOffline(clearConversationHistory(tab, chat, random() < 0.5)) : undefined;
  const to = random() < 0.5 ? chats : [chat];
  if (choice < 0.73) {
    const others = messages.filter(({ body }) => !isTombstone(body) && body.type !== "event");
    if (others.length === 0) return undefined;
    return orOffline(
      enqueueForward(tab, chat, toChatItem(undefined, pick(others)), to).then(() => {
        actor.forwards += to.length;
      }),
    );
  }
  if (choice < 0.81) {
    const file = `${name} ${n}.bin`;
    const body = { type: "file", name: file, mime: "application/octet-stream", size: fileBytes } as const;
    await enqueueFiles(tab, to, [{ blob: new Blob([new Uint8Array(fileBytes).fill(n)]), body }]);
    actor.attached.push(...to.map((one) => ({ name: file, chat: one })));
    return undefined;
  }
  if (choice < 0.88) {
    const texts = messages.filter(({ body }) => body.type === "text");
    const { seq } = texts.length > 0 ? pick(texts) : { seq: undefined };
    if (seq === undefined) return undefined;
    return orOffline(
      setMessagePinned(tab, chat, seq, random() < 0.8).then(() => {
        pinnedMessages++;
      }),
    );
  }
  const text = `${name} ${n}`;
  const isToAll = random() < 0.3;
  const answered = await findAnswered(tab, chat, random);
  if (isToAll) await enqueueBroadcast(tab, chats, text);
  else await enqueueText(tab, chat, text, { target: answered?.target });
  if (answered && !isToAll) actor.replies.push({ chat, text, answered: answered.text });
  for (const one of isToAll ? chats : [chat]) typed.set(one, [...(typed.get(one) ?? []), text]);
  return undefined;
};

/** Somebody joins the group, leaves, or is removed; the group never ends. */
const moveMembers = (server: ModelServer, group: Uuid, people: readonly Uuid[], random: () => number): void => {
  const { members: marks } = server.log(group);
  const [owner = ""] = [...marks].find(([, { role }]) => role === "owner") ?? [];
  const one = people[Math.floor(random() * people.length)] ?? "";
  if (!marks.has(one)) server.changeGroup(owner, group, { type: "add", users: [one] });
  else if (marks.size === 1) server.changeGroup(one, group, { type: "rename", name: `alone ${random()}` });
  else if (one === owner || random() < 0.3) server.changeGroup(one, group, { type: "leave" });
  else server.changeGroup(owner, group, { type: "remove", user: one });
};

const isForwarded = (body: StoredBody) => "forwarded" in body && body.forwarded !== undefined;

/** The owner of the group deletes a text of another member, on any of their devices. */
const deleteAsOwner = async (server: ModelServer, actors: readonly Actor[], group: Uuid, random: () => number) => {
  const { members } = server.log(group);
  const [tab] = actors.flatMap(({ device, tabs }) => (members.get(device.user)?.role === "owner" ? tabs : []));
  if (!tab) return;
  const messages = await getContext(tab).store.queryMessages(group, 1).toArray();
  const texts = messages.filter(({ mine, body }) => mine === 0 && body.type === "text" && !isForwarded(body));
  const { seq } = texts[Math.floor(random() * texts.length)] ?? {};
  if (seq !== undefined) await orOffline(deleteMessageBySeq(tab, group, seq));
};

/** Every member is known with their role, and nobody else counts as a member. */
const expectMembers = async (server: ModelServer, tab: SyncClient, group: Uuid): Promise<void> => {
  const context = getContext(tab);
  await syncMemberList(context, group);
  const { members, roster } = await readMembers(context.store, context.me, group);
  const { members: marks, group: facts } = server.log(group);
  expect(roster).toBe(facts?.roster);
  const seats = [...marks].map(([user, { number, role }]) => ({ user, number, role }));
  expect(members.map(({ user, number, role }) => ({ user, number, role }))).toEqual(
    seats.sort((a, b) => a.number - b.number),
  );
};

/** The device has the stars of the server, apart from those of messages that were deleted or cleared meanwhile. */
const expectStars = async (server: ModelServer, tab: SyncClient, chat: ConversationId): Promise<void> => {
  const { me } = getContext(tab);
  const flags = server.listMessageFlags(me, chat);
  const shown = (await readStarredMessages(getContext(tab), chat, 1_000)).messages;
  expect(shown.map(({ seq }) => seq).sort()).toEqual(
    "error" in flags ? [] : flags.starred.map(({ seq }) => seq).sort(),
  );
};

/** A group without own membership contains only unsent messages. */
const expectGone = async (tab: SyncClient, group: Uuid): Promise<void> => {
  const { store } = getContext(tab);
  expect(await store.conversations.get(group)).toMatchObject({ gone: true, open: false, unread: 0 });
  expect(await store.queryMessages(group, 0).count()).toBe(0);
  expect(await store.queryMembers(group).count()).toBe(0);
  const unsent = listUnsent(tab.unsent, group);
  expect(unsent.filter(({ state }) => state !== "failed")).toEqual([]);
};

const textsOf = (messages: readonly { body: StoredBody }[]) =>
  messages.flatMap(({ body }) => (body.type === "text" && !isForwarded(body) ? toTyped(body.text) : []));

let namedReplies = 0;
let ownerDeletions = 0;
/** Messages that were pinned or unpinned. */
let pinnedMessages = 0;

afterAll(() => {
  expect(namedReplies).toBeGreaterThan(0);
  expect(ownerDeletions).toBeGreaterThan(0);
  expect(pinnedMessages).toBeGreaterThan(0);
});

describe("all kinds of faults at once", () => {
  for (const seed of seeds) {
    it(`every typed message is stored everywhere, once and in order (seed ${seed})`, { timeout: 300_000 }, async () => {
      const random = seeded(seed);
      const server = new ModelServer();
      const people = ["Amina", "Benoît", "Chantal"].map((name) => server.addPerson(name));
      const [amina = "", benoit = "", chantal = ""] = people;
      const withBenoit = server.connect(amina, benoit);
      const withChantal = server.connect(amina, chantal);
      const group = server.createGroup(amina, "Famille", [benoit, chantal]);
      server.pageRowsMax = 7;
      const privateOf = (user: string) =>
        user === amina ? [withBenoit, withChantal] : [user === benoit ? withBenoit : withChantal];
      const chatsOf = (user: string) => [...privateOf(user), group];
      const actors: Actor[] = [amina, amina, benoit, chantal].map((user) => {
        const device = makeDevice(server, user);
        device.faults.random = random;
        return { device, tabs: [], typed: new Map(), attached: [], forwards: 0, withdrawn: [], replies: [] };
      });
      for (let step = 0; step < steps; step++) {
        const index = Math.floor(random() * actors.length);
        const actor = actors[index] as Actor;
        await act(server, actor, chatsOf(actor.device.user), `d${index}`, step, random);
        if (random() < 0.2) moveMembers(server, group, people, random);
        if (random() < 0.1) await deleteAsOwner(server, actors, group, random);
        if (random() < 0.5) await actor.device.pass(random() * 2_000);
      }
      for (const { device, tabs } of actors) {
        Object.assign(device.faults, calm);
        if (tabs.length === 0) tabs.push(await device.openTab());
        device.wake();
      }
      for (const { tabs } of actors) {
        const [tab] = tabs as [SyncClient];
        const { unsent } = getContext(tab);
        await eventually(async () => expect(unsentDeletions.list(unsent)).toEqual([]));
        await eventually(async () => expect(messageFlags.list(unsent)).toEqual([]));
        // An edit stays only with a message that failed, as does a reaction.
        await eventually(async () => {
          const failed = new Set(listOutbox(tab.unsent).flatMap(({ cid, state }) => (state === "failed" ? cid : [])));
          const pending = [...edits.list(unsent), ...reactions.list(unsent)];
          expect(pending.filter(({ target }) => !failed.has(String(target)))).toEqual([]);
        });
      }
      for (const { device, tabs, typed } of actors) {
        for (const chat of chatsOf(device.user)) {
          const isIn = server.log(chat).members.has(device.user);
          const check = isIn
            ? (tab: SyncClient) => expectSynced(server, tab, chat)
            : (tab: SyncClient) => expectGone(tab, chat);
          // If only system messages of the group arrived, nothing is fetched before it is opened.
          tabs[0]?.prioritizeConversation(chat);
          for (const tab of tabs) await eventually(() => check(tab));
          // Every device shows the same stars: those that the server has, without deleted and cleared messages.
          for (const tab of tabs) await eventually(() => expectStars(server, tab, chat));
          if (isIn && chat === group && tabs[0]) await expectMembers(server, tabs[0], chat);
          const log = textsOf(server.log(chat).messages.filter(({ author }) => author === device.user));
          const typedTexts = typed.get(chat) ?? [];
          // Each typed message is in the log exactly once, and the messages of one device are in the order of typing.
          expect(log.filter((text) => typedTexts.includes(text))).toEqual(
            typedTexts.filter((text) => log.includes(text)),
          );
        }
      }
      const logged = [...server.logs.values()].flatMap(({ id, messages }) =>
        messages.map((one) => ({ ...one, chat: id })),
      );
      const outboxes = actors.map(({ tabs }) => listOutbox((tabs[0] as SyncClient).unsent));
      const cids = new Set(logged.map(({ cid }) => cid));
      // A message deleted while being sent is stored nowhere, except in a group from which its author was removed
      // meanwhile.
      const withdrawn = actors.flatMap((actor) => actor.withdrawn);
      const left = logged.filter(
        ({ cid, body }) => body.type !== "deleted" && withdrawn.some((one) => one.cid === cid),
      );
      expect(left.every(({ chat }) => chat === group)).toBe(true);
      const neverCame = withdrawn.filter(({ cid }) => !cids.has(cid)).length;
      // A message that arrived, but whose author was removed before being notified, is shown as failed.
      const failed = outboxes.flat();
      const unsent = failed.filter(({ cid }) => !cids.has(cid));
      const hasFailed = unsent.filter(({ body }) => !isForwarded(body));
      expect(
        hasFailed.every(({ conversation, error }) => conversation === group && error === "conversation_not_found"),
      ).toBe(true);
      // Every typed message is stored, was deleted or is still unsent on its author's device, and there are no others.
      const all = actors.flatMap(({ typed }) => [...typed.values()].flat());
      const alive = textsOf(logged);
      const deleted = logged.filter(({ body }) => body.type === "deleted").length;
      ownerDeletions += logged.filter(({ body }) => body.type === "deleted" && body.by !== undefined).length;
      expect(alive.length + deleted + textsOf(hasFailed).length + neverCame).toBe(all.length);
      expect(alive.filter((text) => !all.includes(text))).toEqual([]);
      // Every reply that arrived names what it answers, as long as that is not deleted; none names another message.
      for (const { chat, text, answered } of actors.flatMap(({ replies }) => replies)) {
        const { messages } = server.log(chat);
        const { body } = messages.find((one) => one.body.type === "text" && toTyped(one.body.text) === text) ?? {};
        if (body?.type !== "text") continue;
        // A copy that was forwarded to this chat has the same text.
        const targets = messages.filter((one) => one.body.type === "text" && toTyped(one.body.text) === answered);
        const named = messages.find(({ seq }) => seq === body.reply);
        if (named && targets.includes(named)) namedReplies++;
        else if (named) expect(named.body.type).toBe("deleted");
        else expect(targets.filter((one) => !isForwarded(one.body))).toEqual([]);
      }
      // Every file is stored with all its bytes, once in each conversation it was sent to.
      const own = logged.flatMap(({ body, chat }) =>
        body.type === "file" && !isForwarded(body) ? { name: body.name, chat, file: body.file } : [],
      );
      const byName = (a: { name: string; chat: string }, b: { name: string; chat: string }) =>
        `${a.name} ${a.chat}`.localeCompare(`${b.name} ${b.chat}`);
      const kept = hasFailed.flatMap(({ body, conversation }) =>
        body.type === "file" ? { name: body.name, chat: conversation } : [],
      );
      expect([...own.map(({ name, chat }) => ({ name, chat })), ...kept].sort(byName)).toEqual(
        actors.flatMap(({ attached }) => attached).sort(byName),
      );
      for (const { file } of own) expect(server.files.bytes(file)).toHaveLength(fileBytes);
      // A forwarded message arrived, or its original was deleted before, or the sender had left the group.
      const causes = ["original_gone", "original_edited", "conversation_not_found"];
      expect(failed.every(({ state, error = "" }) => state === "failed" && causes.includes(error))).toBe(true);
      const forwarded = logged.filter(({ body }) => isForwarded(body)).length;
      const unforwarded = unsent.length - hasFailed.length;
      expect(forwarded + unforwarded).toBe(actors.reduce((sum, { forwards }) => sum + forwards, 0));
    });
  }
});
