const shownMs = 10_000;
const askedMs = 25_000; // a phone at the ear is taken down first
const thankedMs = 1_500;
/** A shorter call leaves little to judge. */
const judgedFromSeconds = 20;

/** Whether a call that was talked for so long is asked about. */
export const isToJudge = (seconds: number): boolean => seconds > judgedFromSeconds;

export type CardLook = {
  /** It asks how the call was. */
  asks: boolean;
  stage: "asked" | "judging" | "thanked";
  /** Somebody is at it, or cannot see it. */
  isHeld: boolean;
};

const stayMsOf = ({ asks, stage, isHeld }: CardLook): number | undefined => {
  if (stage === "thanked") return thankedMs;
  if (isHeld) return undefined;
  return asks ? askedMs : shownMs;
};

/** Lets the card of an ended call go when it was shown long enough, unless the function that it gives back is called. */
export const stay = (look: CardLook, leave: () => void): (() => void) => {
  const ms = stayMsOf(look);
  if (ms === undefined) return () => {};
  const timer = setTimeout(leave, ms);
  return () => clearTimeout(timer);
};
