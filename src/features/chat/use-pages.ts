import { useCallback, useEffect, useRef, useState } from "react";
import { showToast } from "../../components/toast";
import { t } from "../../i18n/setup";
import { useLink } from "../../sync/hooks";

const aheadRows = 15; // asked for before they are reached

/**
 * Asks for the next page at one end of the list as the reader comes near it. After a failure it waits for the
 * link. The second value says that it waits.
 */
export const usePages = (
  isWanted: boolean,
  load: (() => Promise<void>) | undefined,
): [reach: (rowsLeft: number | undefined) => void, isStuck: boolean] => {
  const isOnline = useLink() === "online";
  const [isStuck, setStuck] = useState(false);
  const isAsking = useRef(false);

  useEffect(() => {
    if (isOnline) setStuck(false);
  }, [isOnline]);

  const reach = useCallback(
    (rowsLeft: number | undefined) => {
      if (rowsLeft === undefined || rowsLeft > aheadRows || !isWanted || !load || isStuck || isAsking.current) return;
      isAsking.current = true;
      load()
        .catch(() => {
          setStuck(true);
          if (isOnline) showToast({ tone: "danger", title: t("common.error"), message: t("chat.loadFailed") });
        })
        .finally(() => {
          isAsking.current = false;
        });
    },
    [isWanted, load, isStuck, isOnline],
  );
  return [reach, isStuck];
};
