import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Sheet } from "#components/overlays/sheet.tsx";
import { ContactPicker } from "#components/people/contact-picker.tsx";
import type { ShownMember } from "./member-view.ts";

type HeirSheetProps = {
  members: ShownMember[] | undefined;
  onPick: (heir: ShownMember) => void;
  onClose: () => void;
};

/** An owner who leaves chooses who follows. */
export default function HeirSheet({ members, onPick, onClose }: HeirSheetProps) {
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
