import { parseReactions, type ReactionCount } from "#contract/wire/reactions.ts";
// @unocss-include – UnoCSS scans only component files by default.
/** Classes of the reactions below a bubble, shared with the first view. Their row is as high as `reactionsPx`. */
export const reactionClasses = {
  row: "relative z-1 -mt-1 flex h-7 max-w-[min(85%,34rem)] gap-1 px-2",
  pill: "flex h-7 min-w-10 items-center justify-center gap-1 rounded-full border px-2 text-sm leading-none tabular-nums",
  own: "border-accent bg-accent-soft font-semibold text-accent",
  other: "border-line bg-surface text-muted",
} as const;

const shownMax = 4; // kinds in the row of a narrow screen

/** Kinds shown below a bubble, the own one among them, and the number of reactions of the other kinds. */
export const toShownKinds = (summary: string): { shown: ReactionCount[]; moreCount: number } => {
  const counts = parseReactions(summary);
  const own = counts.findIndex(({ isOwn }) => isOwn);
  const isShown = (index: number) => index < (own < shownMax ? shownMax : shownMax - 1) || index === own;
  return {
    shown: counts.filter((_, index) => isShown(index)),
    moreCount: counts.reduce((sum, { count }, index) => (isShown(index) ? sum : sum + count), 0),
  };
};
