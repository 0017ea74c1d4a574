import * as v from "valibot";
import { displayNameMaxLength } from "#contract/limits/people.ts";
import { createNameSchema } from "#contract/text.ts";

/**
 * Names that could be mistaken for official accounts of the service. Names are compared by appearance: without case,
 * accents, spaces and punctuation, and with look-alike letters and digits mapped to Latin letters (Unicode confusables,
 * as far as these words need them).
 */

/** Latin letters of these words with their look-alikes. Letters drawn as one vertical stroke (i, l, 1, |) are "i". */
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
const latinByLookalike = new Map(
  Object.entries(lookalikes).flatMap(([letter, others]) => [...others].map((one) => [one, letter])),
);

/** Appearance of a name as letters from a to z. */
export const toSkeleton = (name: string): string =>
  [...name.normalize("NFKD").replace(/\p{M}/gu, "")]
    .map((letter) => latinByLookalike.get(letter) ?? latinByLookalike.get(letter.toLowerCase()) ?? letter.toLowerCase())
    .join("")
    .replace(/[^a-z]/g, "");

/** Skeleton of the name of the service. */
export const serviceBrand = toSkeleton("Lisolo");

/** Words for official roles. "Lisolo" alone may be a surname; next to one of these words it means the service. */
const roles = [
  "support assistance aide help helpdesk ajuda suporte service services servico client clientele customer atendimento",
  "equipe team staff admin administrator administrateur administrador administration moderator moderateur moderador",
  "officiel officielle official oficial compte account conta securite security seguranca verification verified verifie",
  "verificado info infos information news actualites noticias bot app messenger system systeme sistema direction",
]
  .join(" ")
  .split(" ")
  .map(toSkeleton);
const roleWords = new Set(roles);
/** Roles long enough not to occur inside another word of a name. */
const longRoles = roles.filter((role) => role.length >= 6);
const onlyRoles = new RegExp(
  `^(?:${[...roles, ..."de du da do the of for le la".split(" ").map(toSkeleton)].join("|")})*$`,
);

/** Whether a name consists of words for official roles only, or of no letters at all. */
export const isRoleName = (name: string): boolean => onlyRoles.test(toSkeleton(name));

/** Whether a name could be mistaken for an official account: the brand (a skeleton) alone or with an official role. */
export const isOfficialName = (name: string, brand: string): boolean => {
  // A number behind the name does not make it another one: "Lisolo 2".
  const skeleton = toSkeleton(name.replace(/(?<=\s)\d+(?=\s|$)/g, ""));
  if (!skeleton.includes(brand)) return false;
  const rest = skeleton.replace(brand, "");
  if (onlyRoles.test(rest) || longRoles.some((role) => rest.includes(role))) return true;
  return name.split(/[\s\p{P}]+/u).some((word) => roleWords.has(toSkeleton(word)));
};

/** Whether a name could be mistaken for an official account of the service. */
export const isReservedName = (name: string): boolean => isOfficialName(name, serviceBrand);

/** Name of a person, as others read it. */
export const DisplayName = v.pipe(
  createNameSchema(displayNameMaxLength, "invalid_name"),
  // Longer names are refused already, and the comparison takes more than linear time.
  v.check((name) => name.length > displayNameMaxLength || !isReservedName(name), "reserved_name"),
);

/** Error code of the first problem with a name. */
export const nameProblem = ([issue]: readonly { message: string }[]): "invalid_name" | "reserved_name" =>
  issue?.message === "reserved_name" ? "reserved_name" : "invalid_name";
