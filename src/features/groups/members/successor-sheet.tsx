import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Sheet } from "#components/overlays/sheet.tsx";
import { ContactPicker } from "#components/people/contact-picker.tsx";
import type { GroupMemberView } from "./member-view.ts";

type SuccessorSheetProps = {
  members: GroupMemberView[] | undefined;
  onPick: (heir: GroupMemberView) => void;
  onClose: () => void;
};

/** An owner who leaves chooses who follows. */
export default function SuccessorSheet({ members, onPick, onClose }: SuccessorSheetProps) {
  const { t } = useTranslation();
  const people = useMemo(
    () => members?.filter(({ isMe, user }) => !isMe && user !== "").map((member) => ({ ...member, id: member.user })),
    [members],
  );
  return (
    <Sheet title={t("groups.leave.heirTitle")} subtitle={t("groups.leave.heirBody")} onClose={onClose}>
      <ContactPicker
        people={people}
        label={t("groups.leave.heirList")}
        searchLabel={t("groups.page.searchLabel")}
        onPick={({ id }) => {
          const heir = members?.find(({ user }) => user === id);
          if (heir) onPick(heir);
        }}
      />
    </Sheet>
  );
}
