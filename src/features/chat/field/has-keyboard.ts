/**
 * Whether the device probably has a hardware keyboard: it has a mouse. Elsewhere, focusing a field opens an on-screen
 * keyboard over half of the chat.
 */
export const hasKeyboard = (): boolean => matchMedia("(hover: hover) and (pointer: fine)").matches;
