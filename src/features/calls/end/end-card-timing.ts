const defaultDisplayMs = 10_000;
const questionDisplayMs = 25_000; // a phone at the ear is taken down first
const thanksDisplayMs = 1_500;
/** A shorter call leaves little to judge. */
const feedbackMinSeconds = 20;

/** Whether a call that was talked for so long is asked about. */
export const shouldAskFeedback = (seconds: number): boolean => seconds > feedbackMinSeconds;

export type EndCardState = {
  /** It asks how the call was. */
  asksFeedback: boolean;
  stage: "asked" | "judging" | "thanked";
  /** Somebody is at it, or cannot see it. */
  isPaused: boolean;
};

const toDisplayMs = ({ asksFeedback, stage, isPaused }: EndCardState): number | undefined => {
  if (stage === "thanked") return thanksDisplayMs;
  if (isPaused) return undefined;
  return asksFeedback ? questionDisplayMs : defaultDisplayMs;
};

/** Lets the card of an ended call go when it was shown long enough, unless the function that it gives back is called. */
export const scheduleDismiss = (look: EndCardState, leave: () => void): (() => void) => {
  const ms = toDisplayMs(look);
  if (ms === undefined) return () => {};
  const timer = setTimeout(leave, ms);
  return () => clearTimeout(timer);
};
