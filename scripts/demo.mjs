// `npm start -- --demo`: people who know each other, so that a newcomer meets a living product. Made through the public HTTP
// API only, over the last weeks by the server's clock. A second run finds them and only prints the log-ins; an interrupted one is
// completed.
import { callApi, Refused, signIn, signUp } from "./demo/api.mjs";
import { drawAvatar } from "./demo/avatar.mjs";
import { callsOf } from "./demo/calls.mjs";
import { groupEvents, groupId, groupLength } from "./demo/group.mjs";
import { makeLines } from "./demo/lines.mjs";
import { blocks, chats, mutes, openRequests, password, people } from "./demo/people.mjs";
import { statusesOf } from "./demo/statuses.mjs";
import { ignore, say, show, stableId, turnsOf } from "./demo/talk.mjs";
import { createTimeline, spread, timeOf } from "./demo/timeline.mjs";

const origin = process.argv[2] ?? "http://localhost:8787";
const shownLogIns = ["grace", "patrick"];
const arrival = { days: 36, at: "09:00" };
const requested = { days: 2, at: "15:10" };

const linesOf = ({ pair, languages, turns, last }) => [...makeLines(languages, turns, seedOf(pair)), ...last];
const seedOf = (pair) => Number.parseInt(stableId(...pair).slice(0, 8), 16);
const conversationOf = (one, other) => [one.id, other.id].sort().join(".");
const call = (person, method, path, body) => callApi(origin, method, path, { token: person.token, body });

/** Signs in, or up when nobody has the number, as nobody has where all is new. */
async function meet({ key, name, phone, look }, isNew) {
  const known = isNew ? undefined : await signIn(origin, { phone, password }).catch(ignore("invalid_credentials"));
  const session = known ?? (await signUp(origin, { phone, password, name }));
  const { access_token: token, refresh_token: refreshToken } = session;
  const person = { key, name, phone, look, id: session.user.id, token, refreshToken, renewedMs: 0 };
  const profile = await call(person, "GET", `/api/users/${person.id}`);
  if (profile.avatar_url === null) {
    const raw = { type: "image/png", bytes: drawAvatar(look) };
    await callApi(origin, "PUT", "/api/profile/avatar", { token: person.token, raw });
  }
  return person;
}

const isAskedAlready = ignore(
  "request_already_sent",
  "request_already_received",
  "already_connected",
  "contact_blocked",
);

async function connect(one, other) {
  await call(one, "POST", "/api/requests", { to_user_id: other.id }).catch(isAskedAlready);
  const { received } = await call(other, "GET", "/api/requests");
  const request = received.find((candidate) => candidate.from_user_id === one.id);
  if (request) await call(other, "POST", `/api/requests/${request.id}/accept`);
}

/** A chat as what is said in it goes by. */
const chatOf = ({ pair }, speakers) => ({
  id: conversationOf(speakers.a, speakers.b),
  name: pair.join(),
  path: pair,
  speakers,
});

/** Says a chat's closing lines and leaves the receipts as told. */
async function close(chat, speakers) {
  const head = await say(origin, chatOf(chat, speakers), chat.last, linesOf(chat).length - chat.last.length);
  const seen = head - chat.last.length;
  const reader = chat.last.at(-1)[0] === "a" ? speakers.b : speakers.a;
  for (const person of [speakers.a, speakers.b]) {
    const isLate = person === reader && chat.read !== "read";
    const delivered = isLate && chat.read === "none" ? seen : head;
    const marks = { delivered, read: isLate ? seen : head };
    await call(person, "PUT", `/api/conversations/${conversationOf(speakers.a, speakers.b)}/marks`, marks);
  }
}

const personOf = (key) => people[people.findIndex((person) => person.key === key)];
const lastChat = chats[chats.length - 1];

/** Whether an earlier run came to its end: all of the group and of the chat that goes on last is there, or was left since. */
async function isComplete() {
  const one = personOf(lastChat.pair[0]);
  const session = await signIn(origin, { phone: one.phone, password }).catch(ignore("invalid_credentials"));
  if (!session) return false;
  const { rows } = await callApi(origin, "GET", "/api/sync?since=0", { token: session.access_token });
  const hasAll = (id, length) =>
    rows.some(({ conversation, gone, head }) => conversation === id && (gone || head >= length));
  const lasts = rows.filter(({ head }) => head >= linesOf(lastChat).length + (lastChat.shown ?? []).length);
  return hasAll(groupId, groupLength) && lasts.some(({ conversation }) => conversation !== groupId);
}

/** What happens in a chat: lines in sittings, then what is shown, at last the lines that close it. */
function eventsIn(chat, known, timeline) {
  const speakers = { a: known[chat.pair[0]], b: known[chat.pair[1]] };
  const who = [speakers.a, speakers.b];
  const conversation = chatOf(chat, speakers);
  const until = timeOf(chat.until);
  const { shown = [], calls = [] } = chat;
  const turns = turnsOf(linesOf(chat).slice(0, -chat.last.length));
  const starts = turns.map((_, i) => turns.slice(0, i).reduce((sum, turn) => sum + turn.length, 0));
  const shownMs = (i) => until - (shown.length - i) * 9 * 60_000;
  return [
    ...spread(turns, { days: chat.days, until, seed: seedOf(chat.pair) }).map(({ at, row, index }) => ({
      at,
      who,
      run: () => say(origin, conversation, row, starts[index]),
    })),
    ...callsOf(origin, timeline, conversation, calls),
    ...shown.map((thing, i) => ({ at: shownMs(i), who, run: () => show(origin, conversation, thing, i) })),
    { at: until, who, run: () => close(chat, speakers) },
  ];
}

async function populate() {
  const isNew = !(await signIn(origin, { phone: people[0].phone, password }).catch(ignore("invalid_credentials")));
  const timeline = createTimeline(origin, isNew);
  const known = {};
  try {
    await timeline.goTo(timeOf(arrival));
    for (const person of people) known[person.key] = { ...(await meet(person, isNew)), renewedMs: timeOf(arrival) };
    for (const { pair } of chats) await connect(known[pair[0]], known[pair[1]]);
    const ask = (key, ...rest) => call(known[key], ...rest);
    const at = timeOf(requested);
    const asked = openRequests.map(([from, to], i) => ({
      at: at + i * 7_000_000,
      who: [known[from]],
      run: () => ask(from, "POST", "/api/requests", { to_user_id: known[to].id }).catch(isAskedAlready),
    }));
    const chosen = [
      ...mutes.map(([one, other]) => [one, `/api/mutes/${conversationOf(known[one], known[other])}`]),
      ...blocks.map(([one, other]) => [one, `/api/blocks/${known[other].id}`]),
    ].map(([key, path]) => ({ at, who: [known[key]], run: () => ask(key, "PUT", path) }));
    await timeline.live([
      ...chats.flatMap((chat) => eventsIn(chat, known, timeline)),
      ...groupEvents(origin, known),
      ...statusesOf(origin, known),
      ...asked,
      ...chosen,
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

/** Somebody tried the demo's security: it was there, and who now asks for more than the password cannot be spoken for. */
const isGuarded = (error) => error instanceof Refused && ["insufficient_aal", "phone_exists"].includes(error.code);

await makeDemo().catch((error) => {
  if (!isGuarded(error)) throw error;
  console.log("The demo is there already, and somebody in it has another password or a second step: left as it is.");
});
console.log(`\nThe demo lives at ${origin}. Log in as`);
for (const key of shownLogIns) {
  const { name, phone } = personOf(key);
  console.log(`  ${phone}   password ${password}   ${name}`);
}
