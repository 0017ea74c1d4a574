// `npm start -- --demo`: fills the product with people who know each other, through the public HTTP API, with activity
// spread over the last weeks by the server's clock. A second run only prints the log-ins; an interrupted run is
// continued.
import { ApiRefusal, callApi, signIn, signUp } from "./demo/api.mjs";
import { drawAvatar } from "./demo/avatar.mjs";
import { createCallEvents } from "./demo/calls.mjs";
import { createGroupEvents, groupId, groupMessageCount } from "./demo/group.mjs";
import { makeLines } from "./demo/lines.mjs";
import { blocks, chats, mutes, openRequests, password, people } from "./demo/people.mjs";
import { createStatusEvents } from "./demo/statuses.mjs";
import { groupBySpeaker, ignoreErrors, sendAttachment, sendLines, stableId } from "./demo/talk.mjs";
import { createTimeline, spreadOverSittings, toEpochMs } from "./demo/timeline.mjs";

const origin = process.argv[2] ?? "http://localhost:8787";
const printedLogIns = ["grace", "patrick"];
const arrivedAt = { days: 36, at: "09:00" };
const requestedAt = { days: 2, at: "15:10" };

const listLines = ({ pair, languages, turns, last }) => [...makeLines(languages, turns, getSeed(pair)), ...last];
const getSeed = (pair) => Number.parseInt(stableId(...pair).slice(0, 8), 16);
const toConversationId = (one, other) => [one.id, other.id].sort().join(".");
const call = (person, method, path, body) => callApi(origin, method, path, { token: person.token, body });

/** Signs in, or signs up if the number has no account, as for all people of a new demo. */
async function signInOrUp({ key, name, phone, look }, isNew) {
  const peopleByKey = isNew
    ? undefined
    : await signIn(origin, { phone, password }).catch(ignoreErrors("invalid_credentials"));
  const session = peopleByKey ?? (await signUp(origin, { phone, password, name }));
  const { access_token: token, refresh_token: refreshToken } = session;
  const person = { key, name, phone, look, id: session.user.id, token, refreshToken, renewedMs: 0 };
  const profile = await call(person, "GET", `/api/users/${person.id}`);
  if (profile.avatar_url === null) {
    const raw = { type: "image/png", bytes: drawAvatar(look) };
    await callApi(origin, "PUT", "/api/profile/avatar", { token: person.token, raw });
  }
  return person;
}

const ignoreExistingRequest = ignoreErrors(
  "request_already_sent",
  "request_already_received",
  "already_connected",
  "contact_blocked",
);

async function connect(one, other) {
  await call(one, "POST", "/api/requests", { to_user_id: other.id }).catch(ignoreExistingRequest);
  const { received } = await call(other, "GET", "/api/requests");
  const request = received.find((candidate) => candidate.from_user_id === one.id);
  if (request) await call(other, "POST", `/api/requests/${request.id}/accept`);
}

/** Conversation as the demo's sending functions expect it. */
const toConversation = ({ pair }, speakers) => ({
  id: toConversationId(speakers.a, speakers.b),
  name: pair.join(),
  path: pair,
  speakers,
});

/** Sends a chat's last lines and sets the receipts. */
async function finishChat(chat, speakers) {
  const lastSeq = await sendLines(
    origin,
    toConversation(chat, speakers),
    chat.last,
    listLines(chat).length - chat.last.length,
  );
  const readSeq = lastSeq - chat.last.length;
  const reader = chat.last.at(-1)[0] === "a" ? speakers.b : speakers.a;
  for (const person of [speakers.a, speakers.b]) {
    const isLate = person === reader && chat.read !== "read";
    const delivered = isLate && chat.read === "none" ? readSeq : lastSeq;
    const marks = { delivered, read: isLate ? readSeq : lastSeq };
    await call(person, "PUT", `/api/conversations/${toConversationId(speakers.a, speakers.b)}/marks`, marks);
  }
}

const findPerson = (key) => people[people.findIndex((person) => person.key === key)];
const lastChat = chats[chats.length - 1];

/** Whether an earlier run was complete: the group and the last chat are full, or were left since. */
async function isComplete() {
  const one = findPerson(lastChat.pair[0]);
  const session = await signIn(origin, { phone: one.phone, password }).catch(ignoreErrors("invalid_credentials"));
  if (!session) return false;
  const { rows } = await callApi(origin, "GET", "/api/sync?since=0", { token: session.access_token });
  const hasAll = (id, length) =>
    rows.some(({ conversation, gone, head: lastSeq }) => conversation === id && (gone || lastSeq >= length));
  const lasts = rows.filter(
    ({ head: lastSeq }) => lastSeq >= listLines(lastChat).length + (lastChat.shown ?? []).length,
  );
  return hasAll(groupId, groupMessageCount) && lasts.some(({ conversation }) => conversation !== groupId);
}

/** Events of a chat: lines in sittings, then attachments, finally the last lines. */
function createChatEvents(chat, peopleByKey, timeline) {
  const speakers = { a: peopleByKey[chat.pair[0]], b: peopleByKey[chat.pair[1]] };
  const participants = [speakers.a, speakers.b];
  const conversation = toConversation(chat, speakers);
  const until = toEpochMs(chat.until);
  const { shown: attachments = [], calls = [] } = chat;
  const turns = groupBySpeaker(listLines(chat).slice(0, -chat.last.length));
  const starts = turns.map((_, i) => turns.slice(0, i).reduce((sum, turn) => sum + turn.length, 0));
  const attachmentMs = (i) => until - (attachments.length - i) * 9 * 60_000;
  return [
    ...spreadOverSittings(turns, { days: chat.days, until, seed: getSeed(chat.pair) }).map(({ at, row, index }) => ({
      at,
      participants,
      run: () => sendLines(origin, conversation, row, starts[index]),
    })),
    ...createCallEvents(origin, timeline, conversation, calls),
    ...attachments.map((attachment, i) => ({
      at: attachmentMs(i),
      participants,
      run: () => sendAttachment(origin, conversation, attachment, i),
    })),
    { at: until, participants, run: () => finishChat(chat, speakers) },
  ];
}

async function populate() {
  const isNew = !(await signIn(origin, { phone: people[0].phone, password }).catch(
    ignoreErrors("invalid_credentials"),
  ));
  const timeline = createTimeline(origin, isNew);
  const peopleByKey = {};
  try {
    await timeline.goTo(toEpochMs(arrivedAt));
    for (const person of people)
      peopleByKey[person.key] = { ...(await signInOrUp(person, isNew)), renewedMs: toEpochMs(arrivedAt) };
    for (const { pair } of chats) await connect(peopleByKey[pair[0]], peopleByKey[pair[1]]);
    const ask = (key, ...rest) => call(peopleByKey[key], ...rest);
    const at = toEpochMs(requestedAt);
    const requestEvents = openRequests.map(([from, to], i) => ({
      at: at + i * 7_000_000,
      participants: [peopleByKey[from]],
      run: () => ask(from, "POST", "/api/requests", { to_user_id: peopleByKey[to].id }).catch(ignoreExistingRequest),
    }));
    const settingEvents = [
      ...mutes.map(([one, other]) => [one, `/api/mutes/${toConversationId(peopleByKey[one], peopleByKey[other])}`]),
      ...blocks.map(([one, other]) => [one, `/api/blocks/${peopleByKey[other].id}`]),
    ].map(([key, path]) => ({ at, participants: [peopleByKey[key]], run: () => ask(key, "PUT", path) }));
    await timeline.live([
      ...chats.flatMap((chat) => createChatEvents(chat, peopleByKey, timeline)),
      ...createGroupEvents(origin, peopleByKey),
      ...createStatusEvents(origin, peopleByKey),
      ...requestEvents,
      ...settingEvents,
    ]);
  } finally {
    await timeline.end();
  }
}

async function makeDemo() {
  if (await isComplete()) return;
  console.log("Making the demo's people and chats...");
  await populate();
}

/** A person of the demo has another password or a second factor, so the script cannot sign in for them. */
const isSecuredError = (error) =>
  error instanceof ApiRefusal && ["insufficient_aal", "phone_exists"].includes(error.code);

await makeDemo().catch((error) => {
  if (!isSecuredError(error)) throw error;
  console.log(
    "The demo exists already, and one of its people has another password or a second factor: it is left unchanged.",
  );
});
console.log(`\nThe demo runs at ${origin}. Log in as`);
for (const key of printedLogIns) {
  const { name, phone } = findPerson(key);
  console.log(`  ${phone}   password ${password}   ${name}`);
}
