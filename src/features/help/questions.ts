import type { Language } from "#contract/language.ts";
import { foldText } from "#contract/text.ts";
import en from "./questions/en.json";
import fr from "./questions/fr.json";
import pt from "./questions/pt.json";

export const helpTopics = ["messages", "people", "calls", "account", "phone"] as const;
export type HelpTopic = (typeof helpTopics)[number];

/** `words` are those that people look for and that stand in neither of the two. */
export type HelpQuestion = { id: string; topic: string; question: string; answer: string; words: string };

/** All languages are here, so that whoever changes theirs without a network can read on. */
export const helpQuestions: Record<Language, readonly HelpQuestion[]> = { fr, en, pt };

/** Where a word was found counts: in the question, in the answer, in the words beside. */
const scoreWord = ({ question, answer, words }: HelpQuestion, word: string): number => {
  const at = [question, answer, words].findIndex((text) => foldText(text).includes(word));
  return at === -1 ? 0 : 3 - at;
};

const minSignificantLength = 3; // shorter words stand nearly everywhere

/**
 * The questions in which all these words stand, without case and accents, those that ask for them first; where there is
 * none, those in which at least half of the words stand that tell something, the most of them first.
 */
export const searchHelpQuestions = (all: readonly HelpQuestion[], query: string): HelpQuestion[] => {
  const words = foldText(query)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const weighed = all.map((question) => {
    const weights = new Map(words.map((word) => [word, scoreWord(question, word)]));
    const sum = [...weights.values()].reduce((total, weight) => total + weight, 0);
    return { question, weights, sum };
  });
  const whole = weighed.filter(({ weights }) => words.every((word) => weights.get(word)));
  if (whole.length > 0) return whole.sort((a, b) => b.sum - a.sum).map(({ question }) => question);
  const telling = words.filter(({ length }) => length >= minSignificantLength);
  return weighed
    .map((one) => ({ ...one, met: telling.filter((word) => one.weights.get(word)).length }))
    .filter(({ met }) => met > 0 && met * 2 >= telling.length)
    .sort((a, b) => b.met - a.met || b.sum - a.sum)
    .map(({ question }) => question);
};
