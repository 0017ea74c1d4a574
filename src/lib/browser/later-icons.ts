/**
 * Loads the icons of code that loads after the app's opening (`uno.config.ts`). Never rejects: the code works without
 * them, and a failed stylesheet is requested again (`stylesheet-retry.ts`).
 */
export const loadLaterIcons = (): Promise<unknown> => import("virtual:uno:later-icons.css").catch(() => undefined);
