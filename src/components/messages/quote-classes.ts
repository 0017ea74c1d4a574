// @unocss-include – UnoCSS scans only component files by default.
/** Classes of a quote, shared with the first view. The box is as high as `quotePx` together with its margin. */
export const quoteClasses = {
  /** Around the quote of a text. Its width does not depend on the quoted words, which may arrive later. */
  textFrame: "min-w-56",
  box: "mx-2 mt-2 flex h-[max(48px,3rem)] w-[calc(100%-16px)] flex-col justify-center overflow-hidden rounded-[10px] border-l-4 border-accent bg-[color-mix(in_srgb,var(--text)_7%,transparent)] px-2.5 text-sm leading-[1.43]",
  author: "block max-w-full truncate font-semibold text-accent",
  text: "block max-w-full truncate text-muted",
} as const;
