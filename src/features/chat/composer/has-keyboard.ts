/** A device with a mouse has a keyboard on the table; elsewhere focus would bring one up over half the chat. */
export const hasKeyboard = (): boolean => matchMedia("(hover: hover) and (pointer: fine)").matches;
