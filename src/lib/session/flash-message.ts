import * as v from "valibot";

/** Message to show on the next document, for example after signing in, which leads from an entry page to the app. */
const FlashMessage = v.object({ title: v.optional(v.string()), message: v.string() });
type FlashMessage = v.InferOutput<typeof FlashMessage>;

export const flashMessageKey = "notice"; // in sessionStorage

export const saveFlashMessage = (notice: FlashMessage): void => {
  try {
    sessionStorage.setItem(flashMessageKey, JSON.stringify(notice));
  } catch {
    // Storage is full or forbidden: only the message is lost.
  }
};

/** Reads and deletes the saved message. */
export const consumeFlashMessage = (): FlashMessage | undefined => {
  try {
    const text = sessionStorage.getItem(flashMessageKey);
    if (text === null) return undefined;
    sessionStorage.removeItem(flashMessageKey);
    const parsed = v.safeParse(FlashMessage, JSON.parse(text));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
};
