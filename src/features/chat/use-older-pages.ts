import { useCallback, useEffect, useRef, useState } from "react";
import { showToast } from "../../components/toast";
import { t } from "../../i18n/setup";
import { type ChatView, useLink } from "../../sync/hooks";

const aheadRows = 15; // asked for before they are reached

/**
 * Asks for older messages as the reader comes near the oldest one. After a failure it waits: for the link, or
 * for the reader to try again by scrolling. The second value says that it waits.
 */
export const useOlderPages = (
  chat: ChatView,
  isShown: boolean,
): [reach: (firstIndex: number | undefined) => void, isStuck: boolean] => {
  const link = useLink();
  const [isStuck, setStuck] = useState(false);
  const isAsking = useRef(false);
  const { hasOlder, loading, loadOlder } = chat;
  const isOnline = link === "online";

  useEffect(() => {
    if (isOnline) setStuck(false);
  }, [isOnline]);

  const reach = useCallback(
    (firstIndex: number | undefined) => {
      if (firstIndex === undefined || firstIndex > aheadRows || !isShown) return;
      if (!hasOlder || loading || isStuck || isAsking.current) return;
      isAsking.current = true;
      loadOlder()
        .catch(() => {
          setStuck(true);
          if (isOnline) showToast({ tone: "danger", title: t("common.error"), message: t("chat.loadFailed") });
        })
        .finally(() => {
          isAsking.current = false;
        });
    },
    [hasOlder, loading, loadOlder, isStuck, isShown, isOnline],
  );
  return [reach, isStuck];
};
