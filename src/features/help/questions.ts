import type { Language } from "#contract/language.ts";
import { foldText } from "#contract/text.ts";
import en from "./questions/en.json";
import fr from "./questions/fr.json";
import pt from "./questions/pt.json";

export const helpTopics = ["messages", "people", "calls", "account", "phone"] as const;
export type HelpTopic = (typeof helpTopics)[number];

/** Question and answer; `words` are further search keywords found in neither. */
export type HelpQuestion = { id: string; topic: string; question: string; answer: string; words: string };

/** Questions in all languages, so that a change of language works offline. */
export const helpQuestions: Record<Language, readonly HelpQuestion[]> = { fr, en, pt };

/** Scores a match of a word: 3 in the question, 2 in the answer, 1 in the keywords, 0 for none. */
const scoreWord = ({ question, answer, words }: HelpQuestion, word: string): number => {
  const at = [question, answer, words].findIndex((text) => foldText(text).includes(word));
  return at === -1 ? 0 : 3 - at;
};

const minSignificantLength = 3; // shorter words match almost everywhere

/**
 * Searches questions by words, ignoring case and accents. Returns those matching all words, best score first. If there
 * are none, returns those matching at least half of the significant words, most matches first.
 */
export const searchHelpQuestions = (all: readonly HelpQuestion[], query: string): HelpQuestion[] => {
  const words = foldText(query)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const scored = all.map((question) => {
    const scores = new Map(words.map((word) => [word, scoreWord(question, word)]));
    const total = [...scores.values()].reduce((sum, score) => sum + score, 0);
    return { question, scores, total };
  });
  const fullMatches = scored.filter(({ scores }) => words.every((word) => scores.get(word)));
  if (fullMatches.length > 0) return fullMatches.sort((a, b) => b.total - a.total).map(({ question }) => question);
  const significantWords = words.filter(({ length }) => length >= minSignificantLength);
  return scored
    .map((entry) => ({ ...entry, matchCount: significantWords.filter((word) => entry.scores.get(word)).length }))
    .filter(({ matchCount }) => matchCount > 0 && matchCount * 2 >= significantWords.length)
    .sort((a, b) => b.matchCount - a.matchCount || b.total - a.total)
    .map(({ question }) => question);
};
