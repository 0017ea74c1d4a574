/**
 * Whether a key press belongs to an input method, such as the Enter that accepts a word. Safari ends the composition
 * before it reports that key, which then is known by the code 229 of UI Events, section 7.3.1.
 */
export const isComposingKey = ({ isComposing, keyCode }: Pick<KeyboardEvent, "isComposing" | "keyCode">): boolean =>
  isComposing || keyCode === 229;
