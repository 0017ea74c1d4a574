import { useT } from "../i18n/setup";

/** Says beside a name that it is a group's. */
export function GroupMark() {
  return (
    <span
      role="img"
      aria-label={useT()("groups.chat.isGroup")}
      className="i-ph-users-three-fill shrink-0 text-base text-muted"
    />
  );
}
