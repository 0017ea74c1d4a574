import { late } from "../components/late";
import { useSecurityNotices } from "../sync/use-security-notices";

const SecurityNotes = late(() => import("../features/security/security-notes"));

/** What says that the account was changed elsewhere: fetched when there is something to say, which is seldom. */
export function SecurityNotesHost() {
  const notices = useSecurityNotices();
  return notices.length > 0 && <SecurityNotes notices={notices} />;
}
