import { type ReactNode, useEffect, useState } from "react";
import { t } from "#i18n/setup.ts";
import { leaveNotice } from "#lib/session/flash-message.ts";
import { useSession, wasDeleted, wasSignedOut } from "#lib/session/session.ts";
import { leaveEnd } from "#lib/session/session-ended-note.ts";
import { renewSessionWhileVisible } from "#lib/session/session-renewal.ts";
import { isDeparting } from "#lib/session/signing-out.ts";
import { startSync, stopSync } from "#sync/engine.ts";
import { OpeningFrame } from "./loading-shell.tsx";
import { useAcceptanceNotices, useSyncNotices } from "./notices.ts";

/** Opens the person's local store before any screen reads it, and closes it when they go. */
function Synced({ userId, children }: { userId: string; children: ReactNode }) {
  const [state, setState] = useState<{ userId: string } | { error: unknown }>();
  useEffect(() => {
    let isCurrent = true;
    startSync(userId).then(
      () => isCurrent && setState({ userId }),
      (error: unknown) => isCurrent && setState({ error }),
    );
    return () => {
      isCurrent = false;
      void stopSync();
    };
  }, [userId]);
  useEffect(renewSessionWhileVisible, []);
  useSyncNotices();
  useAcceptanceNotices();
  if (state && "error" in state) throw state.error;
  return state?.userId === userId ? children : <OpeningFrame />;
}

const tellEnd = (): void => {
  if (wasDeleted()) leaveNotice({ title: t("profile.deletedTitle"), message: t("profile.deleted") });
  else if (wasSignedOut()) leaveNotice({ message: t("auth.signedOutElsewhere") });
  else leaveEnd();
};

/** The entry pages are documents of their own: leaving for one also ends whatever of the last person runs here. */
function LeaveForLogin({ hasEnded }: { hasEnded: boolean }) {
  useEffect(() => {
    if (hasEnded && !isDeparting()) tellEnd();
    // What the person who was signed in must not leave behind is removed first.
    void stopSync().finally(() => {
      if (!isDeparting()) location.replace("/login");
    });
  }, [hasEnded]);
  return <OpeningFrame />;
}

/** SPEC.md §2: a visitor who opens a guarded route goes to /login. */
export function SignedInOnly({ children }: { children: ReactNode }) {
  const session = useSession();
  const [wasSignedIn] = useState(session !== undefined);
  if (!session) return <LeaveForLogin hasEnded={wasSignedIn} />;
  return <Synced userId={session.userId}>{children}</Synced>;
}
