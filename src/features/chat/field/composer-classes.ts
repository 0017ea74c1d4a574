// @unocss-include – UnoCSS scans only component files by default.
/** Classes of the form and the field in which a message is written or edited. */
export const composerClasses = {
  form: "relative shrink-0 border-t border-line bg-surface px-2 py-2 pb-[max(0.5rem,env(safe-area-inset-bottom))]",
  field:
    "block min-h-12 max-h-[144px] [field-sizing:content] min-w-0 flex-1 rounded-[24px] border border-field bg-bg px-4 py-[11px] leading-6 placeholder:overflow-hidden placeholder:text-ellipsis placeholder:whitespace-nowrap focus-visible:border-accent focus-visible:outline-1 focus-visible:outline-offset-0",
};
