/** Appends a text to a draft, unless it continues the draft. */
export const joinDrafts = (draft: string, text: string): string =>
  draft === "" || text.startsWith(draft) ? text : `${draft}\n${text}`;
