const defaultDisplayMs = 10_000;
const questionDisplayMs = 25_000; // a phone at the ear is taken down first
const thanksDisplayMs = 1_500;
/** A shorter call leaves little to rate. */
const feedbackMinSeconds = 20;

/** Whether to ask for feedback after a call of this duration. */
export const shouldAskFeedback = (seconds: number): boolean => seconds > feedbackMinSeconds;

export type EndCardState = {
  /** Whether the card asks how the call was. */
  asksFeedback: boolean;
  stage: "asked" | "judging" | "thanked";
  /** Whether the timer pauses: the card is touched, focused or not visible. */
  isPaused: boolean;
};

const toDisplayMs = ({ asksFeedback, stage, isPaused }: EndCardState): number | undefined => {
  if (stage === "thanked") return thanksDisplayMs;
  if (isPaused) return undefined;
  return asksFeedback ? questionDisplayMs : defaultDisplayMs;
};

/** Dismisses the card after its display time. Returns a function that cancels it. */
export const scheduleDismiss = (state: EndCardState, dismiss: () => void): (() => void) => {
  const displayMs = toDisplayMs(state);
  if (displayMs === undefined) return () => {};
  const timer = setTimeout(dismiss, displayMs);
  return () => clearTimeout(timer);
};
