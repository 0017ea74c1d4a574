import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { MenuButton } from "#components/overlays/menu.tsx";
import { Avatar } from "#components/people/avatar.tsx";
import { AvatarButton } from "#components/people/avatar-button.tsx";
import { toAvatarPerson } from "#components/people/avatar-text.ts";
import { type GroupCard, isGroupActionAllowed } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import type { GroupMenu } from "./use-group-menu.tsx";

const picturePx = 128;
const badgeClass =
  "!absolute right--1 bottom--1 border-2 border-bg bg-accent !text-[20px] text-on-accent hover:!bg-accent-hover";

/** Picture, name and member count of a group, with controls to change picture and name for permitted roles. */
export function GroupHeader({ id, group, menu }: { id: Uuid; group: GroupCard; menu: GroupMenu }) {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  const person = toAvatarPerson(group, id);
  const { isSettingPicture } = menu;
  const openFilePicker = () => {
    if (!isSettingPicture) input.current?.click();
  };
  return (
    <div className="flex flex-col items-center gap-1 p-4 pt-6 text-center">
      <div className="relative">
        {group.picture ? (
          <AvatarButton person={person} size={picturePx} />
        ) : (
          <Avatar person={person} size={picturePx} />
        )}
        {isSettingPicture && (
          <span className="absolute inset-0 grid place-items-center rounded-full bg-black/50 text-white">
            <Spinner label={t("common.loading")} className="text-4xl" />
          </span>
        )}
        {isGroupActionAllowed(group.role, "picture") && (
          <>
            <input
              ref={input}
              type="file"
              accept="image/*"
              hidden
              onChange={({ currentTarget }) => {
                const file = currentTarget.files?.[0];
                if (file) menu.setPicture(file);
                currentTarget.value = "";
              }}
            />
            {group.picture ? (
              <MenuButton
                label={t("groups.create.changePicture")}
                icon="i-ph-camera-fill"
                className={badgeClass}
                items={[
                  {
                    id: "change",
                    label: t("groups.picture.change"),
                    icon: "i-ph-image",
                    disabled: isSettingPicture,
                    onSelect: openFilePicker,
                  },
                  {
                    id: "remove",
                    label: t("groups.picture.remove"),
                    icon: "i-ph-trash",
                    tone: "danger",
                    disabled: isSettingPicture,
                    onSelect: () => menu.openOverlay({ type: "removePicture" }),
                  },
                ]}
              />
            ) : (
              <IconButton
                icon="i-ph-camera-fill"
                label={t("groups.create.addPicture")}
                className={badgeClass}
                aria-disabled={isSettingPicture || undefined}
                onClick={openFilePicker}
              />
            )}
          </>
        )}
      </div>
      <div className="mt-3 flex max-w-full items-center">
        <p className="min-w-0 text-[length:calc(1rem+8px)] leading-[calc(1rem+16px)] font-bold break-words">
          <bdi>{group.name}</bdi>
        </p>
        {isGroupActionAllowed(group.role, "rename") && (
          <IconButton
            icon="i-ph-pencil-simple"
            label={t("groups.rename.action")}
            className="text-muted"
            onClick={() => menu.openOverlay({ type: "rename" })}
          />
        )}
      </div>
      <p className="text-muted">{t("groups.chat.members", { count: group.count })}</p>
    </div>
  );
}
