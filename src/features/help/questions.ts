import type { Language } from "#contract/language.ts";
import { foldText } from "#contract/text.ts";

export const helpTopics = [
  "messages",
  "find",
  "notifications",
  "people",
  "groups",
  "calls",
  "privacy",
  "statuses",
  "account",
  "phone",
] as const;
export type HelpTopic = (typeof helpTopics)[number];

/**
 * Question and answer. `{key}` in them stands for a text of the interface (`src/i18n`), `[name]` for a link to a screen
 * (`help-screens.ts`), so that a renamed button or page changes its name here too. `words` are search keywords found in
 * neither.
 */
type HelpText = { question: string; answer: string; words: string };
/** Questions of one language by topic and id, in the order of the page. */
export type HelpTexts = Record<HelpTopic, Record<string, HelpText>>;
export type HelpQuestion = HelpText & { id: string; topic: HelpTopic };

/**
 * Questions of a language, each in a file that the service worker keeps together with the other texts of the language
 * (`src/sw/app-cache.ts`).
 */
const loaders: Record<Language, () => Promise<{ default: HelpTexts }>> = {
  fr: () => import("./questions/fr.json"),
  en: () => import("./questions/en.json"),
  pt: () => import("./questions/pt.json"),
};

export const listQuestions = (texts: HelpTexts): HelpQuestion[] =>
  helpTopics.flatMap((topic) => Object.entries(texts[topic]).map(([id, text]) => ({ id, topic, ...text })));

/** Loads the questions of a language. Rejects if their file cannot be fetched. */
export const loadQuestions = async (language: Language): Promise<HelpQuestion[]> =>
  listQuestions((await loaders[language]()).default);

const insertPattern = /\{([\w.]+)\}|\[(\w+)\]/g;

/** Piece of a question or answer: text, the key of an interface text, or the name of a screen. */
export type TextPiece = { text: string } | { key: string } | { screen: string };

export const splitInserts = (text: string): TextPiece[] => {
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const match of text.matchAll(insertPattern)) {
    const [whole, key, screen = ""] = match;
    if (match.index > end) pieces.push({ text: text.slice(end, match.index) });
    pieces.push(key === undefined ? { screen } : { key });
    end = match.index + whole.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
};

/** The texts as they are shown, for searching them. `resolve` returns the shown words of an insert. */
export const resolveQuestion = (
  question: HelpQuestion,
  resolve: (piece: Exclude<TextPiece, { text: string }>) => string,
): HelpQuestion => {
  const toShown = (text: string) =>
    splitInserts(text)
      .map((piece) => ("text" in piece ? piece.text : resolve(piece)))
      .join("");
  return { ...question, question: toShown(question.question), answer: toShown(question.answer) };
};

/** Scores a match of a word: 3 in the question, 2 in the answer, 1 in the keywords, 0 for none. */
const scoreWord = ({ question, answer, words }: HelpText, word: string): number => {
  const at = [question, answer, words].findIndex((text) => foldText(text).includes(word));
  return at === -1 ? 0 : 3 - at;
};

const minSignificantLength = 3; // shorter words match almost everywhere

/**
 * Ids of the questions that match a query, ignoring case and accents: those with all its words, best score first. If
 * there are none, those with at least half of the significant words, most matches first.
 */
export const searchHelpQuestions = (all: readonly HelpQuestion[], query: string): string[] => {
  const words = foldText(query)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const scored = all.map((question) => {
    const scores = new Map(words.map((word) => [word, scoreWord(question, word)]));
    const total = [...scores.values()].reduce((sum, score) => sum + score, 0);
    return { id: question.id, scores, total };
  });
  const fullMatches = scored.filter(({ scores }) => words.every((word) => scores.get(word)));
  if (fullMatches.length > 0) return fullMatches.sort((a, b) => b.total - a.total).map(({ id }) => id);
  const significantWords = words.filter(({ length }) => length >= minSignificantLength);
  return scored
    .map((entry) => ({ ...entry, matchCount: significantWords.filter((word) => entry.scores.get(word)).length }))
    .filter(({ matchCount }) => matchCount > 0 && matchCount * 2 >= significantWords.length)
    .sort((a, b) => b.matchCount - a.matchCount || b.total - a.total)
    .map(({ id }) => id);
};
