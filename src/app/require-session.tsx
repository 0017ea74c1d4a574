import { type ReactNode, useEffect, useState } from "react";
import { t } from "#i18n/setup.ts";
import { saveFlashMessage } from "#lib/session/flash-message.ts";
import { getSessionEndCause } from "#lib/session/session.ts";
import { saveSessionEndedNote } from "#lib/session/session-ended-note.ts";
import { renewSessionWhileVisible } from "#lib/session/session-renewal.ts";
import { isSigningOut } from "#lib/session/signing-out.ts";
import { useSession } from "#lib/session/use-session.ts";
import { stopEngine } from "#sync/engine/engine.ts";
import { LoadingShell } from "./loading-shell.tsx";
import { isStoreOpenEarly, openStore } from "./opening/open-store.ts";
import { useAcceptanceToasts, useSyncToasts } from "./sync-toasts.ts";

/** Opens the person's local store before any screen reads it, and closes it on unmount. */
function SyncProvider({ userId, children }: { userId: string; children: ReactNode }) {
  const [openStoreOf, setOpenStoreOf] = useState(() => (isStoreOpenEarly(userId) ? userId : undefined));
  const [failure, setFailure] = useState<{ userId: string; error: unknown }>();
  useEffect(() => {
    let isCurrent = true;
    openStore(userId).then(
      () => isCurrent && setOpenStoreOf(userId),
      (error: unknown) => isCurrent && setFailure({ userId, error }),
    );
    return () => {
      isCurrent = false;
      void stopEngine();
    };
  }, [userId]);
  useEffect(renewSessionWhileVisible, []);
  useSyncToasts();
  useAcceptanceToasts();
  if (failure?.userId === userId) throw failure.error;
  return openStoreOf === userId ? children : <LoadingShell />;
}

const saveSignOutMessage = (): void => {
  const cause = getSessionEndCause();
  if (cause === "account") saveFlashMessage({ title: t("profile.deletedTitle"), message: t("profile.deleted") });
  else if (cause === "person") saveFlashMessage({ message: t("auth.signedOutElsewhere") });
  else saveSessionEndedNote();
};

/** Page for visitors: the log-in page, or that of a personal link or a code of vouching (as in index.html). */
const toVisitorPath = (path: string): string => (/^\/app\/[uv]\//.test(path) ? `${path.slice(4)}?visitor` : "/login");

/**
 * Leaves the app for the log-in page. The entry pages are separate documents, so the navigation also ends everything
 * that still runs for the previous person.
 */
function RedirectToLogin({ hasEnded }: { hasEnded: boolean }) {
  useEffect(() => {
    if (hasEnded && !isSigningOut()) saveSignOutMessage();
    // Local data that must not outlive the session is deleted first.
    void stopEngine().finally(() => {
      if (!isSigningOut()) location.replace(toVisitorPath(location.pathname));
    });
  }, [hasEnded]);
  return <LoadingShell />;
}

/** Redirects visitors without a session to /login (SPEC.md §2). */
export function RequireSession({ children }: { children: ReactNode }) {
  const session = useSession();
  const [wasSignedIn] = useState(session !== undefined);
  if (!session) return <RedirectToLogin hasEnded={wasSignedIn} />;
  return <SyncProvider userId={session.userId}>{children}</SyncProvider>;
}
