// @unocss-include – UnoCSS scans only component files by default.
/** Classes of the area of the pinned messages, shared with the first view. */
export const pinnedAreaClasses = "h-[max(56px,3.5rem)] shrink-0 border-b border-line bg-surface";
