/** Parts of the conversation list, as the index has them. Stores of earlier versions have `none` and `main` only. */
export const listSections = { archived: -1, none: 0, main: 1, pinned: 2 } as const;
export type ListSection = (typeof listSections)[keyof typeof listSections];
