import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { loadWithTexts } from "#i18n/setup.ts";
import { useSecurityNotices } from "#sync/hooks/notices/use-security-notices.ts";

const SecurityNotes = lazyComponent(() =>
  loadWithTexts(() => import("#features/security/notices/security-notice-banner.tsx")),
);

/** Loads the alerts about account changes made on other devices, only when there are any, which is rare. */
export function SecurityNotesHost() {
  const notices = useSecurityNotices();
  return notices.length > 0 && <SecurityNotes notices={notices} />;
}
