import { useEffect, useRef, useState } from "react";
import { type AttachedBody, attachmentOf } from "../../../contract/conversations";
import type { ConversationId, Uuid } from "../../../contract/ids";
import { ConfirmDialog } from "../../components/dialog";
import { late } from "../../components/late";
import { type MenuAnchor, type MenuItem, MenuPopup } from "../../components/menu";
import { showToast } from "../../components/toast";
import { formatTime } from "../../i18n/format";
import { useT } from "../../i18n/setup";
import { discardMessage, retractMessage } from "../../sync/actions";
import type { ChatItem } from "../../sync/hooks";
import { saveAs } from "./file-name";
import { useAttachment } from "./use-attachment";

/** What is being done with a message, and where its menu opened. */
export type Deed = { item: ChatItem; anchor: MenuAnchor; step: "menu" | "save" | "forward" | "delete" };

type DeedsProps = {
  conversation: ConversationId;
  me: Uuid;
  deed: Deed;
  onStep: (step: Deed["step"] | undefined) => void;
  /** The message is gone, and with it the button that had the focus. */
  onDeleted: () => void;
};

const ForwardDialog = late(() => import("./forward-dialog"));

/** Fetches the file unless it is here, and gives it to the browser. */
function Saving({
  conversation,
  body,
  onDone,
}: {
  conversation: ConversationId;
  body: AttachedBody;
  onDone: () => void;
}) {
  const t = useT();
  const { url, state, ask } = useAttachment(conversation, body);
  const hasAsked = useRef(false);
  useEffect(() => {
    if (url) saveAs(url, body.name);
    else if (!hasAsked.current) {
      hasAsked.current = true;
      if (ask()) return;
    } else if (state === "failed") {
      showToast({ tone: "danger", title: t("common.error"), message: t("messages.fileLoadFailed") });
    } else return;
    onDone();
  }, [url, state, ask, body.name, onDone, t]);
  return null;
}

function DeleteDialog({ conversation, deed, onStep, onDeleted }: DeedsProps) {
  const t = useT();
  const [isBusy, setBusy] = useState(false);
  const { seq, cid } = deed.item;
  const remove = async () => {
    setBusy(true);
    try {
      if (seq !== undefined) await retractMessage(conversation, seq);
      else if (cid !== undefined) await discardMessage(cid);
      showToast({ message: t("messages.deletedDone") });
      onDeleted();
    } catch {
      showToast({ tone: "danger", title: t("common.error"), message: t("messages.deleteFailed") });
    }
    onStep(undefined);
  };
  return (
    <ConfirmDialog
      open
      title={t("messages.deleteTitle")}
      body={t(seq === undefined ? "messages.deleteUnsentBody" : "messages.deleteBody")}
      confirmLabel={t("common.delete")}
      cancelLabel={t("common.cancel")}
      busy={isBusy}
      onConfirm={() => void remove()}
      onClose={() => onStep(undefined)}
    />
  );
}

/** A message's menu and what it leads to. */
export default function MessageDeeds(props: DeedsProps) {
  const { conversation, me, deed, onStep } = props;
  const t = useT();
  const { item, anchor, step } = deed;
  const { body } = item;
  const attached = attachmentOf(body);
  const text = "text" in body ? body.text : undefined;

  const copy = async (words: string) => {
    try {
      await navigator.clipboard.writeText(words);
      showToast({ message: t("messages.copied") });
    } catch {
      showToast({ tone: "danger", title: t("common.error"), message: t("messages.copyFailed") });
    }
  };

  if (step === "save" && attached) {
    return <Saving conversation={conversation} body={attached} onDone={() => onStep(undefined)} />;
  }
  if (step === "delete") return <DeleteDialog {...props} />;
  if (step === "forward") {
    return <ForwardDialog conversation={conversation} me={me} item={item} onClose={() => onStep(undefined)} />;
  }
  const items: (MenuItem | false | undefined)[] = [
    text !== undefined && {
      id: "copy",
      label: t("messages.copy"),
      icon: "i-ph-copy",
      onSelect: () => void copy(text),
    },
    item.seq !== undefined && {
      id: "forward",
      label: t("messages.forward"),
      icon: "i-ph-arrow-bend-up-right",
      onSelect: () => onStep("forward"),
    },
    attached && {
      id: "save",
      label: t("messages.save"),
      icon: "i-ph-download-simple",
      onSelect: () => onStep("save"),
    },
    item.mine && {
      id: "delete",
      label: t("common.delete"),
      icon: "i-ph-trash",
      tone: "danger",
      onSelect: () => onStep("delete"),
    },
  ];
  return (
    <MenuPopup
      label={t("messages.options", { time: formatTime(item.at) })}
      anchor={anchor}
      items={items.filter((entry) => !!entry)}
      onClose={() => onStep(undefined)}
    />
  );
}
