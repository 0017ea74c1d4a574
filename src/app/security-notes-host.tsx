import { late } from "#components/layout/lazy-component.tsx";
import { withLaterTexts } from "#i18n/setup.ts";
import { useSecurityNotices } from "#sync/hooks/use-security-notices.ts";

const SecurityNotes = late(() => withLaterTexts(() => import("#features/security/notices/security-notes.tsx")));

/** What says that the account was changed elsewhere: fetched when there is something to say, which is seldom. */
export function SecurityNotesHost() {
  const notices = useSecurityNotices();
  return notices.length > 0 && <SecurityNotes notices={notices} />;
}
