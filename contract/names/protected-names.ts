import { toSkeleton } from "./skeleton.ts";

/** Names of the service and of banks and authorities that nobody may imitate (docs/decisions/look-alike-names.md). */

const service = "Lisolo";

/** Words for official roles. "Lisolo" alone may be a surname; next to one of these words it means the service. */
const roles =
  "support assistance aide help helpdesk hotline ajuda suporte service services servico client clientele customer " +
  "atendimento sav reclamation remboursement equipe team staff admin administrator administrateur administrador " +
  "administration moderator moderateur moderador officiel officielle official oficial compte account conta securite " +
  "security seguranca verification verified verifie verificado info infos information news actualites noticias bot app " +
  "messenger system systeme sistema direction";
const connectors = "de du da do the of for le la";
/** Words that make no other name of a protected one: places, possessives and products. */
const additions =
  "rdc drc cd congo kinshasa africa afrique my mon notre nos our meu minha vrai real mobile money cash pay premium " +
  "bonus promo pro plus business online web site com net org";

/** Digits and signs that stand for letters, besides those that look like one. */
const letterBySign: Readonly<Record<string, string>> = {
  ...{ 3: "e", 4: "a", 7: "t", 9: "g", "@": "a", $: "s", "!": "i", "¡": "i", "|": "i" },
};

/** Skeleton of a name without its digits, in one of two ways. */
type ToForm = (name: string) => string;
const toPlainForm: ToForm = (name) =>
  toSkeleton(name.replace(/[3479@$!¡|]/g, (sign) => letterBySign[sign] ?? "")).replace(/\d/g, "");
/** With doubled letters once. */
const toSingleForm: ToForm = (name) => toPlainForm(name.toLowerCase().replace(/(.)\1+/gu, "$1"));
const forms = [toPlainForm, toSingleForm];

const toAnyOf = (words: string): string =>
  [...new Set(words.split(" ").flatMap((word) => forms.map((toForm) => toForm(word))))].join("|");

const createPatterns = () => ({
  roleNames: new RegExp(`^(?:${toAnyOf(connectors)})*(?:${toAnyOf(roles)})(?:${toAnyOf(`${roles} ${connectors}`)})*$`),
  noName: new RegExp(`^(?:${toAnyOf(`${roles} ${connectors} ${additions}`)})*$`),
  role: new RegExp(`^(?:${toAnyOf(roles)})$`),
  /** Roles long enough not to occur inside another word of a name. */
  longRole: new RegExp(toAnyOf((roles.match(/\w{6,}/g) ?? []).join(" "))),
});
let created: ReturnType<typeof createPatterns> | undefined;
/** Created when first used, so that the client, which uses none, contains neither them nor the words. */
const getPatterns = () => {
  created ??= createPatterns();
  return created;
};

/** Form of consecutive words, whether it is a single one, and the form of the words around it. */
type Run = { text: string; isWord: boolean; getOthers: () => string };

/** A name as it may be read. */
type Reading = { toForm: ToForm; text: string; runs: Run[]; hasRole: boolean };

const createReading = (words: readonly string[], toForm: ToForm): Reading => {
  // Joined before they become a form, as letters of two words may look like one.
  const join = (...parts: string[][]) => toForm(parts.flat().join(""));
  const runs = words.flatMap((_, from) =>
    words.slice(from).map((__, count) => {
      const end = from + count + 1;
      const getOthers = () => join(words.slice(0, from), words.slice(end));
      return { text: join(words.slice(from, end)), isWord: count === 0, getOthers };
    }),
  );
  return { toForm, text: join([...words]), runs, hasRole: words.some((word) => getPatterns().role.test(toForm(word))) };
};

/** Readings of a name: as it is, and without what stands behind words, as in "rawbank24" and "Lisolo !". */
const listReadings = (name: string): Reading[] => {
  const words = name.match(/[\p{L}\p{M}\p{N}@$!¡|]+/gu) ?? [];
  const bare = words.map((word) => word.replace(/[^\p{L}\p{M}]+$/u, "")).filter((word) => word !== "");
  return forms.flatMap((toForm) => [createReading(words, toForm), createReading(bare, toForm)]);
};

/** What stands before and after a protected name in a text; undefined if the text does not contain it. */
const splitAround = (text: string, name: string): [before: string, after: string] | undefined => {
  const at = text.indexOf(name);
  return at < 0 ? undefined : [text.slice(0, at), text.slice(at + name.length)];
};

/** Runs that are a protected name. A single word may have others attached that make no other name of it. */
const findRuns = ({ runs }: Reading, name: string): Run[] =>
  runs.filter(({ text, isWord }) =>
    isWord ? splitAround(text, name)?.every((part) => getPatterns().noName.test(part)) : text === name,
  );

/** Whether a name could be mistaken for an official account: a protected name alone or anywhere beside a role. */
const isOfficial = (reading: Reading, name: string): boolean => {
  const around = splitAround(reading.text, name);
  if (!around) return false;
  return (
    reading.hasRole ||
    around.some((part) => getPatterns().longRole.test(part)) ||
    findRuns(reading, name).some(({ getOthers }) => getPatterns().noName.test(getOthers()))
  );
};

/** Whether a display name could be mistaken for an official account of the service. */
export const isReservedName = (name: string): boolean =>
  listReadings(name).some((reading) => isOfficial(reading, reading.toForm(service)));

/**
 * Whether a handle is reserved: words for official roles alone, the name of the service at its beginning or beside a
 * role, and each of the operator's names (banks, authorities) in any place.
 */
export const isReservedHandle = (handle: string, operatorNames: readonly string[]): boolean =>
  listReadings(handle.replace(/_/g, " ")).some((reading) => {
    const { toForm, text } = reading;
    if (getPatterns().roleNames.test(text) || text.startsWith(toForm(service))) return true;
    const names = operatorNames.map(toForm).filter((name) => name !== "");
    return (
      isOfficial(reading, toForm(service)) ||
      names.some((name) => isOfficial(reading, name) || findRuns(reading, name).length > 0)
    );
  });
