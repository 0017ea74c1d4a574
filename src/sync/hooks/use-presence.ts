import { useEffect, useState, useSyncExternalStore } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { presencePollMs } from "#contract/limits.ts";
import type { Presence } from "#contract/settings.ts";
import { activeEngine } from "#sync/engine.ts";
import { PresencePoller } from "#sync/presence/presence-poller.ts";
import { useShownLink } from "./use-connection.ts";
import { useSettings } from "./use-settings.ts";

/**
 * Whether the other of a private conversation is here, as far as both let it be seen: asked for while this screen is
 * looked at. Undefined while nothing is known, and while a person is told that the server is out of reach; an undefined conversation asks nothing.
 */
export const usePresence = (conversation: ConversationId | undefined): Presence | undefined => {
  const sync = useSyncExternalStore(activeEngine.subscribe, activeEngine.get, () => undefined);
  const { presence: isShared } = useSettings();
  const isUp = useShownLink() === "online";
  const asked = isShared ? conversation : undefined;
  const [known, setKnown] = useState<{ of: ConversationId; presence: Presence | undefined }>();
  useEffect(() => {
    if (!sync || asked === undefined) return;
    const asker = new PresencePoller(sync.tab, asked, presencePollMs, (presence) => setKnown({ of: asked, presence }));
    return () => asker.stop();
  }, [sync, asked]);
  return isUp && known?.of === asked ? known?.presence : undefined;
};
