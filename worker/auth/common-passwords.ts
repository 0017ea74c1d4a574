/**
 * Passwords that satisfy the rule of SPEC.md §5 and that attackers try first: the most common entries of leaked lists
 * and runs of French, English and Portuguese keyboards, in lower case and without the characters before the first and
 * after the last letter.
 */
const commonWords = new Set(
  `password passw motdepasse mdp senha palavrapasse azerty azertyuiop qwerty qwertyuiop qwertz asdf asdfgh asdfghjkl
  qsdfgh qsdfghjklm zxcvbn wxcvbn abc abcd abcde abcdef abcdefg abcabc aze qwe welcome bienvenue bonjour bomdia hello salut
  letmein admin administrator root user guest test master login secret changeme iloveyou jetaime teamo amour amor love
  soleil sunshine princess princesse princesa dragon monkey football futebol baseball superman batman pokemon starwars
  shadow michael jordan charlie ashley nicolas thomas marie jesus jesuschrist dieu deus god maman papa mama family famille
  familia whatever freedom liberte computer internet samsung iphone android google facebook whatsapp telegram instagram
  lisolo mbote kinshasa congo rdc lubumbashi brazzaville luanda angola france paris lisboa london africa afrique
  chocolat doudou loulou coucou cheval marseille chelsea arsenal barcelona realmadrid ronaldo messi neymar liverpool
  january janvier janeiro summer spring autumn winter ete hiver printemps automne verao inverno passer toto tata titi foobar`
    .split(/\s+/)
    .filter((word) => word !== ""),
);

const leetLetters: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "@": "a",
  $: "s",
};

const foldPassword = (text: string): string => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/**
 * Removes up to 4 leading and 5 trailing non-letters, such as a year and a punctuation mark: the usual additions that
 * satisfy a password rule.
 */
const stripAffixes = (text: string): string => text.replace(/^[^\p{L}]{0,4}/u, "").replace(/[^\p{L}]{0,5}$/u, "");

/** Tests whether a password is one of the first that an attacker would try. */
export const isCommonPassword = (password: string): boolean => {
  const folded = foldPassword(password);
  const letters = stripAffixes(folded);
  const undisguised = stripAffixes(folded.replace(/[^\p{L}](?=.*\p{L})/gu, (sign) => leetLetters[sign] ?? sign));
  if (commonWords.has(letters) || commonWords.has(undisguised)) return true;
  // One repeated letter ("Aaaaa1"), or digits with at most one letter ("A123456").
  return /^(\p{L})\1*$/u.test(letters) || /^\p{L}?(0?1?23456?7?8?9?0?|(\d)\2+)\p{L}?$/u.test(folded);
};
