import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Sheet } from "#components/overlays/sheet.tsx";
import { ContactPicker } from "#components/people/contact-picker.tsx";
import type { GroupMemberView } from "./member-view.ts";

type SuccessorSheetProps = {
  members: GroupMemberView[] | undefined;
  onPick: (successor: GroupMemberView) => void;
  onClose: () => void;
};

/** Sheet in which a leaving owner selects the next owner. */
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
          const successor = members?.find(({ user }) => user === id);
          if (successor) onPick(successor);
        }}
      />
    </Sheet>
  );
}
