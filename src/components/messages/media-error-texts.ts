import type { TextKey } from "#i18n/setup.ts";
import type { MediaError } from "#lib/media/outgoing-file.ts";

/** Reasons why a chosen file cannot be sent. */
export const mediaErrorTexts = {
  tooLarge: "chat.attach.tooLarge",
  empty: "chat.attach.empty",
  tooManyPixels: "chat.attach.tooManyPixels",
  unreadable: "chat.attach.unreadable",
} as const satisfies Record<MediaError["code"], TextKey>;
