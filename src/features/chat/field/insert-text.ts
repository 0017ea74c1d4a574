/** Writes a text at the caret of a field, in the place of what is selected, as if it were typed. The focus stays. */
export const insertText = (field: HTMLTextAreaElement | null, text: string): void => {
  if (!field) return;
  field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
};
