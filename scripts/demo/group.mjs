// The demo's group: five people who plan a birthday, made by one of them and handed over to another.
import { callApi } from "./api.mjs";
import { drawPicture } from "./pictures.mjs";
import { ignore, say, show, stableId } from "./talk.mjs";

const name = "Mireille 30 ans 🎂";
const path = ["group", "mireille"];
export const groupId = stableId(...path);

const letters = { a: "patrick", b: "grace", c: "nzinga", d: "chancel", e: "aline" };
const maker = "patrick";
const owner = "grace";
const laterComer = "aline";

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
/** What Grâce has got and not looked at; her name stands in it. */
const last = [
  "e Grâce, does she like candles that sparkle?",
  "d Ee, ebele! 🎆",
  "a Et n'oublie pas les bougies 3 et 0",
];

/** Lines of the group besides what is said: made, pictured, handed over, Aline added. */
const eventCount = 4;
export const groupLength = eventCount + before.length + shown.length + after.length + last.length;

/**
 * @param {string} origin
 * @param {Record<string, { id: string, token: string }>} known everybody, by key
 */
export async function gather(origin, known) {
  const call = (key, method, place, body) => callApi(origin, method, place, { token: known[key].token, body });
  const speakers = Object.fromEntries(Object.entries(letters).map(([letter, key]) => [letter, known[key]]));
  const members = Object.values(letters)
    .filter((key) => key !== maker && key !== laterComer)
    .map((key) => known[key].id);
  const made = await call(maker, "POST", "/api/groups", { id: groupId, name, members }).catch(ignore("group_exists"));
  if (!made) return; // somebody who tried the product out has ended it
  if (made.role === "owner" && made.picture === null) {
    const raw = { type: "image/png", bytes: drawPicture("cake").bytes };
    await callApi(origin, "PUT", `/api/groups/${groupId}/picture`, { token: known[maker].token, raw });
  }
  const group = { id: groupId, name: path.join("/"), path, speakers };
  await say(origin, group, before, 0);
  if (made.role === "owner") await call(maker, "PUT", `/api/groups/${groupId}/owner`, { user_id: known[owner].id });
  await show(origin, group, shown);
  await call(owner, "POST", `/api/groups/${groupId}/members`, { members: [known[laterComer].id] });
  await say(origin, group, after, before.length);
  const head = await say(origin, group, last, before.length + after.length);
  const seen = head - last.length;
  for (const key of Object.values(letters)) {
    const marks = { delivered: head, read: key === owner ? seen : head };
    await call(key, "PUT", `/api/conversations/${groupId}/marks`, marks);
  }
}
