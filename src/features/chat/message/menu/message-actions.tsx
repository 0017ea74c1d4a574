import { lazyOverlay } from "#components/overlays/lazy-overlay.tsx";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import type { ChatPeople } from "#features/chat/message/senders.ts";
import { loadMulticast } from "#sync/actions/load-code.ts";
import { AttachmentDownload } from "./attachment-download.tsx";
import { DeleteMessageDialog } from "./delete-message-dialog.tsx";
import type { MessageAction } from "./message-action.ts";
import { MessageMenu } from "./message-menu.tsx";
import { ReactionPicker } from "./reaction-picker.tsx";

type MessageActionsProps = {
  conversation: ConversationId;
  me: Uuid;
  people: ChatPeople;
  action: MessageAction;
  onStep: (step: MessageAction["step"]) => void;
  onClose: () => void;
  /** A completed action; a deleted message loses its menu. */
  onCompleted: (how: "forwarded" | "deleted") => void;
};

// Loads the sending code together with the dialog: the network may be gone once the dialog is open.
const ForwardDialog = lazyOverlay(async () => {
  const [dialog] = await Promise.all([import("./forward-dialog.tsx"), loadMulticast()]);
  return dialog;
});
const ReceiptsSheet = lazyOverlay(() => import("./receipts-sheet.tsx"));
const MessageInfoSheet = lazyOverlay(() => import("./message-info-sheet.tsx"));
const ReactorsSheet = lazyOverlay(() => import("#features/chat/reactions/reactors-sheet.tsx"));

/** Menu of a message, or the dialog that an entry of it opened. */
export default function MessageActions(props: MessageActionsProps) {
  const { conversation, me, people, onStep, onClose, onCompleted } = props;
  const { item, anchor, step } = props.action;
  const { body, seq } = item;
  const attachedBody = findAttachment(body);
  if (step === "save" && attachedBody)
    return <AttachmentDownload conversation={conversation} body={attachedBody} onDone={onClose} />;
  if (step === "delete")
    return (
      <DeleteMessageDialog
        conversation={conversation}
        people={people}
        item={item}
        onDeleted={() => onCompleted("deleted")}
        onClose={onClose}
      />
    );
  if (step === "forward")
    return (
      <ForwardDialog
        conversation={conversation}
        me={me}
        item={item}
        onForwarded={() => onCompleted("forwarded")}
        onClose={onClose}
      />
    );
  if (step === "receipts" && people.members && seq !== undefined)
    return (
      <ReceiptsSheet
        group={conversation}
        ownNumber={people.members.ownNumber}
        seq={seq}
        body={body}
        status={item.status}
        onClose={onClose}
      />
    );
  if (step === "info" && seq !== undefined)
    return <MessageInfoSheet conversation={conversation} item={{ ...item, seq }} onClose={onClose} />;
  if (step === "reactors")
    return <ReactorsSheet conversation={conversation} me={me} people={people} item={item} onClose={onClose} />;
  if (step === "emoji") return <ReactionPicker conversation={conversation} item={item} onClose={onClose} />;
  return (
    <MessageMenu
      conversation={conversation}
      me={me}
      people={people}
      item={item}
      anchor={anchor}
      onStep={onStep}
      onClose={onClose}
    />
  );
}
