/**
 * Names that would pass for the service's own. They are compared by how they look: without case, accents, spaces and signs,
 * and with letters of other alphabets, and digits, as the Latin ones they are drawn like (Unicode's confusables, as far as
 * these words need them).
 */

/** Each letter of these words, and what is drawn like it. Those drawn as one stroke are one. */
const lookalikes: Record<string, string> = {
  a: "аαɑᴀ@4",
  c: "сϲᴄ",
  d: "ԁɗᴅ",
  e: "еєεɛᴇ3",
  f: "ſꜰ",
  g: "ɡɢԍ9",
  h: "һнʜ",
  i: "іιıɪΙІʟⅼլlL|!1ӏⅰ¡",
  k: "кκᴋ",
  m: "мμᴍ",
  n: "пηɴո",
  o: "оοօσᴏо0øө",
  p: "рρᴘ",
  q: "ԛ",
  r: "гʀᴦ",
  s: "ѕꜱ5$",
  t: "тτᴛ7",
  u: "υᴜսц",
  v: "νѵᴠ",
  x: "хχ",
  y: "уγʏ",
  z: "ᴢ",
};
const latin = new Map(
  Object.entries(lookalikes).flatMap(([letter, others]) => [...others].map((one) => [one, letter])),
);

/** How a name looks, as letters from a to z. */
const toSkeleton = (name: string): string =>
  [...name.normalize("NFKD").replace(/\p{M}/gu, "")]
    .map((letter) => latin.get(letter) ?? latin.get(letter.toLowerCase()) ?? letter.toLowerCase())
    .join("")
    .replace(/[^a-z]/g, "");

const brand = toSkeleton("Lisolo");

/** Words for an office of the service. Next to one of them the brand cannot be a person's surname. */
const offices = [
  "support assistance aide help helpdesk ajuda suporte service services servico client clientele customer atendimento",
  "equipe team staff admin administrator administrateur administrador administration moderator moderateur moderador",
  "officiel officielle official oficial compte account conta securite security seguranca verification verified verifie",
  "verificado info infos information news actualites noticias bot app messenger system systeme sistema direction",
]
  .join(" ")
  .split(" ")
  .map(toSkeleton);
const officeWords = new Set(offices);
/** Long enough to be part of no other word that stands in a name. */
const longOffices = offices.filter((office) => office.length >= 6);
const onlyOffices = new RegExp(
  `^(?:${[...offices, ..."de du da do the of for le la".split(" ").map(toSkeleton)].join("|")})*$`,
);

/** Whether a person's name could be taken for the service's: its brand alone, or with what an office of it would be called. */
export const isReservedName = (name: string): boolean => {
  const skeleton = toSkeleton(name.replace(/(?<=\s)\d+(?=\s|$)/g, ""));
  if (!skeleton.includes(brand)) return false;
  const rest = skeleton.replace(brand, "");
  if (onlyOffices.test(rest) || longOffices.some((office) => rest.includes(office))) return true;
  return name.split(/[\s\p{P}]+/u).some((word) => officeWords.has(toSkeleton(word)));
};
