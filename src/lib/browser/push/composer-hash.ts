/** Fragment of a chat's URL that puts the focus into the message field, as "Reply" in a notification does. */
export const composerHash = "#reply";
