import { useTranslation } from "react-i18next";
import { lazyOverlay } from "#components/overlays/lazy-overlay.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { findOwnReaction, toggleReaction } from "#features/chat/reactions/toggle-reaction.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";

const EmojiPicker = lazyOverlay(() => import("#features/chat/reactions/emoji-picker.tsx"));

type ReactionPickerProps = { conversation: ConversationId; item: ChatItem; onClose: () => void };

/** Picker of any emoji as one's reaction to a message. The one that is already set stays. */
export function ReactionPicker({ conversation, item, onClose }: ReactionPickerProps) {
  const { t } = useTranslation();
  return (
    <EmojiPicker
      onChoose={(emoji) => {
        onClose();
        if (emoji !== findOwnReaction(item)) void toggleReaction(conversation, item, emoji, t);
      }}
      onClose={onClose}
    />
  );
}
