import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { loadWithTexts } from "#i18n/setup.ts";
import { useSecurityNotices } from "#sync/hooks/use-security-notices.ts";

const SecurityNotes = lazyComponent(() =>
  loadWithTexts(() => import("#features/security/notices/security-notice-banner.tsx")),
);

/** What says that the account was changed elsewhere: fetched when there is something to say, which is seldom. */
export function SecurityNotesHost() {
  const notices = useSecurityNotices();
  return notices.length > 0 && <SecurityNotes notices={notices} />;
}
