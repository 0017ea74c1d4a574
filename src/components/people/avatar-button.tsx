import { useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Modal } from "#components/overlays/modal.tsx";
import { Avatar } from "./avatar.tsx";
import type { AvatarPerson } from "./avatar-text.ts";

const largestAvatarPx = 512; // largest stored size (contract avatarSizes)

const enlargedMarginPx = 16;
const buttonPx = 48;

const getEnlargedSizePx = (): number =>
  Math.min(largestAvatarPx, innerWidth - 2 * enlargedMarginPx, innerHeight - 4 * enlargedMarginPx - 2 * buttonPx);

/** Avatar that opens enlarged on tap; without a picture it shows the initials. */
export function AvatarButton({ person, size }: { person: AvatarPerson; size: number }) {
  const { t } = useTranslation();
  const [isLarge, setLarge] = useState(false);
  const name = person.username || t("common.user");
  return (
    <>
      <button
        type="button"
        className="rounded-full"
        aria-label={t("contacts.person.enlarge", { name })}
        aria-haspopup="dialog"
        onClick={() => setLarge(true)}
      >
        <Avatar person={person} size={size} />
      </button>
      {isLarge && (
        <Modal
          label={t("contacts.person.picture", { name })}
          className="rise m-auto max-h-none max-w-none overflow-visible bg-transparent p-0 text-white backdrop:!bg-black/80"
          onDismiss={() => setLarge(false)}
        >
          <div className="flex flex-col items-end gap-4 pb-16">
            <IconButton
              icon="i-ph-x-bold"
              label={t("common.close")}
              data-autofocus
              className="bg-black/50 hover:!bg-black/70"
              onClick={() => setLarge(false)}
            />
            <Avatar person={person} size={getEnlargedSizePx()} isSquare />
          </div>
        </Modal>
      )}
    </>
  );
}
