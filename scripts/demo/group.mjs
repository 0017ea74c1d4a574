// The demo's group: five people plan a birthday; one creates the group and transfers it to another.
import { callApi } from "./api.mjs";
import { drawPicture } from "./pictures.mjs";
import { ignoreErrors, sendAttachment, sendLines, stableId } from "./talk.mjs";
import { toEpochMs } from "./timeline.mjs";

const name = "Mireille 30 ans 🎂";
const path = ["group", "mireille"];
export const groupId = stableId(...path);

const letters = { a: "patrick", b: "grace", c: "nzinga", d: "chancel", e: "aline" };
const creator = "patrick";
const owner = "grace";
const lateMember = "aline";
const minutesBetween = 4;

const before = [
  "a Mbote na bino! Mireille aura 30 ans dimanche. On lui fait une surprise ?",
  "b Oui !! Mais pas un mot, elle lit tout par-dessus mon épaule 🤫",
  "c Contem comigo. Levo o funge e a muamba.",
  "d Nakoya na masanga. Ngonga nini?",
  "a 13 h chez maman Rose, à Matonge.",
  "d Ok. Nani akoyemba? 😄",
  "c O Chancel não, por favor 😂",
  "d Na nga azali star ya Brazza!",
  "b On garde Chancel pour la musique et Nzinga pour le chant.",
  "a Voté. Combien on met chacun pour le gâteau ?",
  "b 12 000 chacun, c'est moi qui passe chez le pâtissier.",
  "c Feito, mando hoje.",
  "a Grâce, tu prends le groupe ? Moi je suis sur la route jusqu'à vendredi.",
];
const shown = [{ by: "d", picture: "river", text: "On finit ici le soir, au bord du fleuve ?" }];
const after = [
  "b Bienvenue Aline ! Dimanche 13 h, surprise pour Mireille.",
  "e Hello everyone! I land on Saturday, just in time 🎉",
  "e What can I bring?",
  "c Chocolate belga!!",
  "b Et toi-même, ça suffit 💛",
  "a J'arrive vendredi soir, je prends les chaises.",
  "d Nzinga, okoyemba nini?",
  "c Surpresa 😌",
];
/** Lines that Grâce received but did not read; they mention her name. */
const last = [
  "e Grâce, does she like candles that sparkle?",
  "d Ee, ebele! 🎆",
  "a Et n'oublie pas les bougies 3 et 0",
];

/** Messages of the group besides texts: created, picture changed, ownership transferred, Aline added. */
const eventCount = 4;
export const groupMessageCount = eventCount + before.length + shown.length + after.length + last.length;

/**
 * Events of the group, starting with its creation.
 * @param {string} origin
 * @param {Record<string, any>} people everybody, by key
 * @returns {import("./timeline.mjs").Event[]}
 */
export function createGroupEvents(origin, people) {
  const call = (key, method, place, body) => callApi(origin, method, place, { token: people[key].token, body });
  const speakers = Object.fromEntries(Object.entries(letters).map(([letter, key]) => [letter, people[key]]));
  const members = Object.values(letters)
    .filter((key) => key !== creator && key !== lateMember)
    .map((key) => people[key].id);
  const group = { id: groupId, name: path.join("/"), path, speakers };
  /** State of the group as its creator sees it; undefined if somebody trying the demo deleted it. */
  let made;
  const participants = Object.values(speakers);
  const event = (at, run) => ({
    at,
    participants,
    run: async () => {
      if (made) await run();
    },
  });
  const make = async () => {
    made = await call(creator, "POST", "/api/groups", { id: groupId, name, members }).catch(
      ignoreErrors("group_exists"),
    );
    if (made?.role !== "owner" || made.picture !== null) return;
    const raw = { type: "image/png", bytes: drawPicture("cake").bytes };
    await callApi(origin, "PUT", `/api/groups/${groupId}/picture`, { token: people[creator].token, raw });
  };
  /** Events for consecutive lines, some minutes apart. */
  const createLineEvents = (lines, first, startMs) =>
    lines.map((line, i) =>
      event(startMs + i * minutesBetween * 60_000, () => sendLines(origin, group, [line], first + i)),
    );
  const close = async () => {
    const head = await sendLines(origin, group, last, before.length + after.length);
    const readSeq = head - last.length;
    for (const key of Object.values(letters)) {
      const marks = { delivered: head, read: key === owner ? readSeq : head };
      await call(key, "PUT", `/api/conversations/${groupId}/marks`, marks);
    }
  };
  const handOver = async () => {
    if (made.role === "owner")
      await call(creator, "PUT", `/api/groups/${groupId}/owner`, { user_id: people[owner].id });
  };
  const join = () => call(owner, "POST", `/api/groups/${groupId}/members`, { members: [people[lateMember].id] });
  const madeMs = toEpochMs({ days: 4, at: "18:20" });
  const joinedMs = toEpochMs({ days: 1, at: "12:04" });
  return [
    { at: madeMs, participants, run: make },
    ...createLineEvents(before, 0, madeMs + 60_000),
    event(toEpochMs({ days: 3, at: "09:15" }), handOver),
    ...shown.map((attachment, i) =>
      event(toEpochMs({ days: 2, at: "17:52" }) + i, () => sendAttachment(origin, group, attachment, i)),
    ),
    event(joinedMs, join),
    ...createLineEvents(after, before.length, joinedMs + 60_000),
    event(toEpochMs({ minutes: 52 }), close),
  ];
}
