import { useEffect, useState, useSyncExternalStore } from "react";
import type { ConversationId } from "../../contract/ids";
import { presenceAskMs } from "../../contract/limits";
import type { Presence } from "../../contract/settings";
import { running } from "./engine";
import { PresenceAsker } from "./presence-asker";
import { useSettings } from "./use-settings";
import { useShownLink } from "./use-shown-link";

/**
 * Whether the other of a private conversation is here, as far as both let it be seen: asked for while this screen is
 * looked at. Undefined while nothing is known, and while a person is told that the server is out of reach; an undefined conversation asks nothing.
 */
export const usePresence = (conversation: ConversationId | undefined): Presence | undefined => {
  const sync = useSyncExternalStore(running.subscribe, running.get, () => undefined);
  const { presence: isShared } = useSettings();
  const isUp = useShownLink() === "online";
  const asked = isShared ? conversation : undefined;
  const [known, setKnown] = useState<{ of: ConversationId; presence: Presence | undefined }>();
  useEffect(() => {
    if (!sync || asked === undefined) return;
    const asker = new PresenceAsker(sync.tab, asked, presenceAskMs, (presence) => setKnown({ of: asked, presence }));
    return () => asker.stop();
  }, [sync, asked]);
  return isUp && known?.of === asked ? known?.presence : undefined;
};
