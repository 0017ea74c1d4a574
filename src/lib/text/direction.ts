const rtlBeginning = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

/** Whether the first letter of a text belongs to a script that is written from right to left. */
export const isRightToLeft = (text: string): boolean => rtlBeginning.test(text);
