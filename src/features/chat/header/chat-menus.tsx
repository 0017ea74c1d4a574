import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import MenuPopup, { type MenuAnchor, type MenuItem } from "#components/overlays/menu-popup.tsx";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { ConversationView } from "#sync/hooks/use-conversations.ts";
import { useChatMenu } from "./use-chat-menu.tsx";
import { useContactMenu } from "./use-contact-menu.tsx";

/** Properties of a menu in the header of a chat. */
export type HeaderMenuProps = {
  anchor: MenuAnchor;
  /** False once an entry was chosen, which may have opened a dialog. */
  isOpen: boolean;
  /** Calls whose buttons do not fit into the header. */
  callItems: MenuItem[];
  onSearch: () => void;
  /** Shows a message in the chat. */
  onShowMessage: (seq: number) => void;
  onClose: () => void;
};

type ChatMenuProps = HeaderMenuProps & {
  conversation: ConversationId;
  name: string;
  view: ConversationView | undefined;
};

type MenuContent = Omit<HeaderMenuProps, "onSearch" | "onShowMessage"> & { items: MenuItem[]; dialogs: ReactNode };

function MenuWithDialogs({ anchor, isOpen, callItems, items, dialogs, onClose }: MenuContent) {
  const { t } = useTranslation();
  return (
    <>
      {isOpen && (
        <MenuPopup label={t("common.more")} items={[...callItems, ...items]} anchor={anchor} onClose={onClose} />
      )}
      {dialogs}
    </>
  );
}

const useSearchItem = (onSearch: () => void): MenuItem => {
  const { t } = useTranslation();
  return { id: "search", label: t("chat.search"), icon: "i-ph-magnifying-glass", onSelect: onSearch };
};

type PrivateChatMenuProps = ChatMenuProps & {
  userId: Uuid;
  profilePath: string;
  isBlocked: boolean;
  isContact: boolean;
  isDeleted: boolean;
};

/** Menu in the header of a private chat, with the dialogs of its entries. */
export function PrivateChatMenu({ conversation, name, view, onSearch, onShowMessage, ...props }: PrivateChatMenuProps) {
  const { userId, profilePath, isBlocked, isContact, isDeleted, ...menu } = props;
  const { t } = useTranslation();
  const navigate = useNavigate();
  const searchItem = useSearchItem(onSearch);
  const chatMenu = useChatMenu(conversation, name, view, onShowMessage);
  const contactMenu = useContactMenu({ userId, name, isBlocked, isContact });
  const profileItem = {
    id: "contact",
    label: t("chat.viewContact"),
    icon: "i-ph-user-circle",
    onSelect: () => navigate(profilePath),
  };
  return (
    <MenuWithDialogs
      {...menu}
      items={[profileItem, searchItem, ...chatMenu.items, ...(isDeleted ? [] : contactMenu.items)]}
      dialogs={
        <>
          {chatMenu.dialog}
          {contactMenu.dialog}
        </>
      }
    />
  );
}

type GroupChatMenuProps = ChatMenuProps & { membersPath: string; hasLeft: boolean };

/** Menu in the header of a group, with the dialogs of its entries. */
export function GroupChatMenu({ conversation, name, view, onSearch, onShowMessage, ...props }: GroupChatMenuProps) {
  const { membersPath, hasLeft, ...menu } = props;
  const { t } = useTranslation();
  const navigate = useNavigate();
  const searchItem = useSearchItem(onSearch);
  const chatMenu = useChatMenu(conversation, name, view, onShowMessage);
  const membersItem = {
    id: "members",
    label: t("groups.chat.viewMembers"),
    icon: "i-ph-users-three",
    onSelect: () => navigate(membersPath),
  };
  return (
    <MenuWithDialogs
      {...menu}
      items={[...(hasLeft ? [] : [membersItem]), searchItem, ...chatMenu.items]}
      dialogs={chatMenu.dialog}
    />
  );
}
