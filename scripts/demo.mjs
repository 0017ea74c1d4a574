// `npm start -- --demo`: people who know each other, so that a newcomer meets a living product. Made through the public HTTP
// API only. A second run finds them and only prints the log-ins; an interrupted one is completed.
import { callApi, Refused, signIn, signUp } from "./demo/api.mjs";
import { drawAvatar } from "./demo/avatar.mjs";
import { gather, groupId, groupLength } from "./demo/group.mjs";
import { makeLines } from "./demo/lines.mjs";
import { blocks, chats, mutes, openRequests, password, people } from "./demo/people.mjs";
import { publish } from "./demo/statuses.mjs";
import { ignore, say, show, stableId } from "./demo/talk.mjs";

const origin = process.argv[2] ?? "http://localhost:8787";
const shownLogIns = ["grace", "patrick"];

const linesOf = ({ pair, languages, turns, last }) => [...makeLines(languages, turns, seedOf(pair)), ...last];
const seedOf = (pair) => Number.parseInt(stableId(...pair).slice(0, 8), 16);
const conversationOf = (one, other) => [one.id, other.id].sort().join(".");
const call = (person, method, path, body) => callApi(origin, method, path, { token: person.token, body });

/** Signs in, or up when nobody has the number. */
async function meet({ key, name, phone, look }) {
  const known = await signIn(origin, { phone, password }).catch(ignore("invalid_credentials"));
  const session = known ?? (await signUp(origin, { phone, password, name }));
  const person = { key, name, phone, look, id: session.user.id, token: session.access_token };
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

const shownIn = (chat) => chat.shown ?? [];

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

/** Whether an earlier run came to its end: the last it does is the group. A group that was left since was made as well. */
async function isComplete() {
  const one = personOf(lastChat.pair[0]);
  const session = await signIn(origin, { phone: one.phone, password }).catch(ignore("invalid_credentials"));
  if (!session) return false;
  const { rows } = await callApi(origin, "GET", "/api/sync?since=0", { token: session.access_token });
  return rows.some(({ conversation, gone, head }) => conversation === groupId && (gone || head >= groupLength));
}

async function populate() {
  const known = {};
  for (const person of people) known[person.key] = await meet(person);
  for (const { pair } of chats) await connect(known[pair[0]], known[pair[1]]);
  for (const [from, to] of openRequests) {
    await call(known[from], "POST", "/api/requests", { to_user_id: known[to].id }).catch(isAskedAlready);
  }
  const speakersOf = ({ pair }) => ({ a: known[pair[0]], b: known[pair[1]] });
  await Promise.all(
    chats.map((chat) => say(origin, chatOf(chat, speakersOf(chat)), linesOf(chat).slice(0, -chat.last.length), 0)),
  );
  for (const chat of chats) await show(origin, chatOf(chat, speakersOf(chat)), shownIn(chat));
  for (const chat of chats.slice(0, -1)) await close(chat, speakersOf(chat));
  for (const [one, other] of mutes)
    await call(known[one], "PUT", `/api/mutes/${conversationOf(known[one], known[other])}`);
  for (const [one, other] of blocks) await call(known[one], "PUT", `/api/blocks/${known[other].id}`);
  await publish(origin, known);
  await close(lastChat, speakersOf(lastChat));
  await gather(origin, known); // the last of all: see isComplete
}

async function makeDemo() {
  if (await isComplete()) return;
  console.log("Making the demo's people and chats…");
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
