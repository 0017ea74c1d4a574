import * as v from "valibot";

/** Something to say on the next document: signing in leads from an entry page to the app. */
const Notice = v.object({ title: v.optional(v.string()), message: v.string() });
type Notice = v.InferOutput<typeof Notice>;

const storageKey = "notice";

export const leaveNotice = (notice: Notice): void => {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(notice));
  } catch {
    // Storage is full or forbidden: the notice is lost, what it tells of is not.
  }
};

/** The notice that was left, once. */
export const takeNotice = (): Notice | undefined => {
  try {
    const text = sessionStorage.getItem(storageKey);
    if (text === null) return undefined;
    sessionStorage.removeItem(storageKey);
    const parsed = v.safeParse(Notice, JSON.parse(text));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
};
