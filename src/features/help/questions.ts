import type { Language } from "../../../contract/language";
import { foldText } from "../../../contract/text";
import en from "./questions/en.json";
import fr from "./questions/fr.json";
import pt from "./questions/pt.json";

export const topics = ["messages", "people", "calls", "account", "phone"] as const;
export type Topic = (typeof topics)[number];

/** `words` are those that people look for and that stand in neither of the two. */
export type Question = { id: string; topic: string; question: string; answer: string; words: string };

/** All languages are here, so that whoever changes theirs without a network can read on. */
export const questions: Record<Language, readonly Question[]> = { fr, en, pt };

/** Where a word was found counts: in the question, in the answer, in the words beside. */
const weigh = ({ question, answer, words }: Question, word: string): number => {
  const at = [question, answer, words].findIndex((text) => foldText(text).includes(word));
  return at === -1 ? 0 : 3 - at;
};

/** The questions in which all these words stand, without case and accents; those that ask for them first. */
export const searchQuestions = (all: readonly Question[], query: string): Question[] => {
  const words = foldText(query)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const found = all.flatMap((question) => {
    const weights = words.map((word) => weigh(question, word));
    return weights.includes(0) ? [] : [{ question, weight: weights.reduce((sum, weight) => sum + weight, 0) }];
  });
  return found.sort((a, b) => b.weight - a.weight).map(({ question }) => question);
};
