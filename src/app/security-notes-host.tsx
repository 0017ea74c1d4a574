import { late } from "../components/late";
import { withLaterTexts } from "../i18n/setup";
import { useSecurityNotices } from "../sync/use-security-notices";

const SecurityNotes = late(() => withLaterTexts(() => import("../features/security/security-notes")));

/** What says that the account was changed elsewhere: fetched when there is something to say, which is seldom. */
export function SecurityNotesHost() {
  const notices = useSecurityNotices();
  return notices.length > 0 && <SecurityNotes notices={notices} />;
}
