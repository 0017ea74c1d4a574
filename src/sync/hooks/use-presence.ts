import { useEffect, useState } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { presencePollMs } from "#contract/limits/people.ts";
import type { Presence } from "#contract/settings/settings.ts";
import { waitForTakeover } from "#lib/browser/first-view.ts";
import type { PresencePoller } from "#sync/presence/presence-poller.ts";
import { useShownLink } from "./use-connection.ts";
import { useEngine } from "./use-live-query.ts";
import { useSettings } from "./use-settings.ts";

/**
 * Presence of the other person of a private conversation, polled while the screen is visible, if both share their
 * presence. Undefined while it is unknown or the server is shown as unreachable; an undefined conversation is not
 * polled.
 */
export const usePresence = (conversation: ConversationId | undefined): Presence | undefined => {
  const engine = useEngine();
  const { presence: isShared } = useSettings();
  const isUp = useShownLink() === "online";
  const shared = isShared ? conversation : undefined;
  const [latest, setLatest] = useState<{ conversation: ConversationId; presence: Presence | undefined }>();
  const [Poller, setPoller] = useState<typeof PresencePoller>();
  const isWanted = isUp && shared !== undefined && !Poller;
  useEffect(() => {
    if (!isWanted) return;
    // If the code cannot be fetched, it is requested again with the next connection.
    waitForTakeover()
      .then(() => import("#sync/presence/presence-poller.ts"))
      .then(
        (code) => setPoller(() => code.PresencePoller),
        () => undefined,
      );
  }, [isWanted]);
  useEffect(() => {
    if (!engine || !Poller || shared === undefined) return;
    const poller = new Poller(engine.client, shared, presencePollMs, (presence) =>
      setLatest({ conversation: shared, presence }),
    );
    return () => poller.stop();
  }, [engine, Poller, shared]);
  return isUp && latest?.conversation === shared ? latest?.presence : undefined;
};
