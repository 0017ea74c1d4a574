import * as v from "valibot";
import { toReactionTag } from "#contract/push.ts";
import { listShownNotifications } from "#lib/browser/push/notification-lock.ts";

const ShownData = v.object({ path: v.string() });

/**
 * Closes notifications of reactions in the chat at this path, if it is one, now and whenever the page becomes visible.
 * Returns a function that stops it.
 */
export const closeReactionNotifications = (path: string): (() => void) | undefined => {
  if (!/^\/app\/(chat|group)\//.test(path)) return undefined;
  const close = async () => {
    if (document.visibilityState !== "visible") return;
    for (const shown of await listShownNotifications())
      if (shown.tag.startsWith(toReactionTag("")) && v.is(ShownData, shown.data) && shown.data.path === path)
        shown.close();
  };
  const update = () => void close().catch((error: unknown) => console.warn("notifications", error));
  update();
  document.addEventListener("visibilitychange", update);
  return () => document.removeEventListener("visibilitychange", update);
};
