import { showToast } from "#components/overlays/toast.tsx";
import { shareTargetPath, toSharePath } from "#contract/wire/share-target.ts";
import { loadWithTexts, t } from "#i18n/setup.ts";
import { shareCacheName } from "#lib/browser/share/share-cache.ts";
import { getSession } from "#lib/session/session.ts";

/** Opens what another app shared while nobody was signed in. */
export const resumeShare = async (): Promise<void> => {
  if (!("caches" in globalThis) || location.pathname.startsWith(shareTargetPath)) return;
  if (!(await caches.has(shareCacheName))) return;
  const { findUnownedShare } = await loadWithTexts(() => import("#lib/browser/share/stored-share.ts"));
  const { id, wasDropped } = await findUnownedShare(getSession()?.userId, Date.now());
  if (id !== undefined) location.replace(toSharePath(id));
  else if (wasDropped) showToast({ message: t("share.dropped") });
};
