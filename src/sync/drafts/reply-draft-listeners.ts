/** Screens of this tab that show which messages drafts answer. */
export const replyDraftListeners = new Set<() => void>();
/** Tells the screens of this tab that the messages which drafts answer may have changed. */
export const notifyReplyDrafts = (): void => {
  for (const listener of [...replyDraftListeners]) listener();
};
