/** Latin letters with their look-alikes (Unicode confusables, UTS 39), as far as protected names need them. */
const lookalikes: Readonly<Record<string, string>> = {
  a: "аαɑᴀ",
  c: "сᴄ",
  d: "ԁɗᴅ",
  e: "еєεɛᴇ",
  f: "ꜰ",
  g: "ɡɢԍ",
  h: "һнʜ",
  // Drawn as one vertical stroke.
  i: "іιıɪʟլl1ӏꓡꓲꮮꭵ",
  k: "кκᴋ",
  m: "мμᴍ",
  n: "пηɴո",
  o: "оοօσᴏøө0ⲟꓳ",
  p: "рρᴘ",
  q: "ԛ",
  r: "гʀᴦ",
  s: "ѕꜱ5ꓢꮪ",
  t: "тτᴛ",
  u: "υᴜսц",
  v: "νѵᴠ",
  x: "хχ",
  y: "уγʏ",
  z: "ᴢ",
};

const createLatinMap = (): ReadonlyMap<string, string> =>
  new Map(Object.entries(lookalikes).flatMap(([letter, others]) => [...others].map((one) => [one, letter])));
let latinByLookalike: ReadonlyMap<string, string> | undefined;

/**
 * Appearance of a name or handle as letters from a to z and digits (docs/decisions/look-alike-names.md): without case, accents,
 * spaces and punctuation, and with one letter for all that look like it, also for two letters drawn like one. Names
 * with the same skeleton can be mistaken for each other.
 */
export const toSkeleton = (name: string): string => {
  const letters = name
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}]/gu, "")
    .toLowerCase()
    .replace(/c[l1]/g, "d"); // before l becomes i: "lucia" does not look like "luda"
  latinByLookalike ??= createLatinMap();
  const latin = latinByLookalike;
  return [...letters]
    .map((letter) => latin.get(letter) ?? letter)
    .join("")
    .replace(/[^a-z\d]/g, "")
    .replace(/rn|nn/g, "m")
    .replace(/vv/g, "w");
};
