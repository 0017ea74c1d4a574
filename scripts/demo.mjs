// `npm start -- --demo`: people who know each other, so that a newcomer meets a living product. Made through the public HTTP
// API only. A second run finds them and only prints the log-ins; an interrupted one is completed.
import { createHash } from "node:crypto";
import { callApi, Refused, signIn, signUp } from "./demo/api.mjs";
import { drawAvatar } from "./demo/avatar.mjs";
import { bodyOf } from "./demo/files.mjs";
import { makeLines } from "./demo/lines.mjs";
import { blocks, chats, mutes, openRequests, password, people } from "./demo/people.mjs";

const origin = process.argv[2] ?? "http://localhost:8787";
const shownLogIns = ["grace", "patrick"];

/** An id that is the same in every run, so that what is there already is not made twice. */
function stableId(...parts) {
  const hex = createHash("sha256").update(parts.join("/")).digest("hex");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-7$3-8$4-$5");
}

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

function ignore(...codes) {
  return (error) => {
    if (error instanceof Refused && codes.includes(error.code)) return undefined;
    throw error;
  };
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

/** Sends lines in order, what one person says in a row as one request. Their ids count up from `first`. */
async function say(chat, speakers, lines, first) {
  const path = `/api/conversations/${conversationOf(speakers.a, speakers.b)}/messages`;
  let head = 0;
  for (let start = 0; start < lines.length; ) {
    const speaker = lines[start][0];
    let end = start;
    while (lines[end]?.[0] === speaker) end++;
    const messages = lines.slice(start, end).map((line, i) => ({
      cid: stableId(chat.pair.join(), String(first + start + i)),
      body: { type: "text", text: line.slice(2) },
    }));
    const { sent } = await call(speakers[speaker], "POST", path, { messages });
    for (const { seq } of sent) head = Math.max(head, seq);
    start += sent.length; // what was not taken in yet is sent again
  }
  return head;
}

const shownIn = (chat) => chat.shown ?? [];

/** Sends what a chat shows besides words. */
async function show(chat, speakers) {
  const { pair } = chat;
  const conversation = conversationOf(speakers.a, speakers.b);
  for (const [i, thing] of shownIn(chat).entries()) {
    const person = speakers[thing.by];
    const body = await bodyOf(origin, person, stableId(...pair, "file", String(i)), thing);
    const messages = [{ cid: stableId(...pair, "shown", String(i)), body }];
    await call(person, "POST", `/api/conversations/${conversation}/messages`, { messages });
  }
}

/** Says a chat's closing lines and leaves the receipts as told. */
async function close(chat, speakers) {
  const head = await say(chat, speakers, chat.last, linesOf(chat).length - chat.last.length);
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

/** Whether an earlier run came to its end: the last thing it does is the last chat. */
async function isComplete() {
  const one = personOf(lastChat.pair[0]);
  const session = await signIn(origin, { phone: one.phone, password }).catch(ignore("invalid_credentials"));
  if (!session) return false;
  const { rows } = await callApi(origin, "GET", "/api/conversations", { token: session.access_token });
  return rows.some((row) => row.head >= linesOf(lastChat).length + shownIn(lastChat).length);
}

async function populate() {
  const known = {};
  for (const person of people) known[person.key] = await meet(person);
  for (const { pair } of chats) await connect(known[pair[0]], known[pair[1]]);
  for (const [from, to] of openRequests) {
    await call(known[from], "POST", "/api/requests", { to_user_id: known[to].id }).catch(isAskedAlready);
  }
  const speakersOf = ({ pair }) => ({ a: known[pair[0]], b: known[pair[1]] });
  await Promise.all(chats.map((chat) => say(chat, speakersOf(chat), linesOf(chat).slice(0, -chat.last.length), 0)));
  for (const chat of chats) await show(chat, speakersOf(chat));
  for (const chat of chats.slice(0, -1)) await close(chat, speakersOf(chat));
  for (const [one, other] of mutes)
    await call(known[one], "PUT", `/api/mutes/${conversationOf(known[one], known[other])}`);
  for (const [one, other] of blocks) await call(known[one], "PUT", `/api/blocks/${known[other].id}`);
  await close(lastChat, speakersOf(lastChat)); // the last of all: see isComplete
}

if (!(await isComplete())) {
  console.log("Making the demo's people and chats…");
  await populate();
}
console.log(`\nThe demo lives at ${origin}. Log in as`);
for (const key of shownLogIns) {
  const { name, phone } = personOf(key);
  console.log(`  ${phone}   password ${password}   ${name}`);
}
