import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { Sheet } from "#components/overlays/sheet.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { ContactPicker } from "#components/people/contact-picker.tsx";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import { cleanText, isBlank } from "#contract/text.ts";
import { useSession } from "#lib/session/use-session.ts";
import { broadcastFiles, broadcastText } from "#sync/actions/message-actions.ts";
import { useDraft } from "#sync/hooks/use-draft.ts";
import { useRecipients } from "#sync/hooks/use-recipients.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { PictureStrip } from "./picture-strip.tsx";
import { useBroadcastPictures } from "./use-broadcast-pictures.ts";

/** Sheet that sends one message to several people and groups; each receives it as an ordinary message. */
export default function BroadcastSheet({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const me = useSession()?.userId ?? "";
  // Recipients of an old draft may no longer be contacts.
  const { picker, chosen, addToSelection, targets } = useRecipients(me);
  const [text, setText] = useState("");
  const [isBusy, setBusy] = useState(false);
  const { pictures, isPreparing, add, remove } = useBroadcastPictures();
  const content = { files: pictures.map(({ file }) => file), text, to: [...chosen] };
  const draft = useDraft("broadcast", isPreparing ? undefined : content, ({ files, text, to }) => {
    setText((before) => (before === "" ? text : before));
    addToSelection(to);
    void add([...files]);
  });
  const clean = cleanText(text);
  const hasText = !isBlank(clean);
  const count = targets.length;
  const canSend = count > 0 && !isPreparing && (hasText || pictures.length > 0);

  const send = async () => {
    setBusy(true);
    try {
      const [first, ...rest] = pictures.map(({ outgoing }) => outgoing);
      if (first) {
        // The text is the caption of the first picture, so that it cannot arrive without it.
        const captioned =
          hasText && first.body.type !== "voice" ? { ...first, body: { ...first.body, text: clean } } : first;
        await broadcastFiles(targets, [captioned, ...rest], await draft.prepareToSend());
      } else {
        await broadcastText(targets, clean);
      }
    } catch (error) {
      if (error instanceof SyncError && error.code === "no_room") {
        showToast({ tone: "danger", title: t("chat.attach.noRoomTitle"), message: t("chat.attach.noRoom") });
      } else {
        showToast({ tone: "danger", title: t("common.error"), message: t("chat.sendFailed") });
      }
      setBusy(false);
      return;
    }
    showToast({ message: t("masolo.broadcastSent", { count }) });
    void draft.discard();
    onClose();
  };
  return (
    <Sheet title={t("masolo.broadcastTitle")} subtitle={t("masolo.broadcastBody")} onClose={onClose}>
      <ContactPicker label={t("masolo.recipients")} {...picker} />
      <form
        className="shrink-0 border-t border-line bg-surface p-3 pb-[max(0.75rem,env(safe-area-inset-bottom))]"
        onSubmit={(event) => {
          event.preventDefault();
          if (canSend && !isBusy) void send();
        }}
      >
        <PictureStrip pictures={pictures} isPreparing={isPreparing} onRemove={remove} />
        <div className="flex items-end gap-2">
          <label className="relative grid size-12 shrink-0 cursor-pointer place-items-center rounded-full text-[24px] hover:bg-raised has-[:focus-visible]:outline-3 has-[:focus-visible]:outline-accent has-[:focus-visible]:outline-solid">
            <span className="i-ph-image" aria-hidden="true" />
            <input
              type="file"
              aria-label={t("masolo.addPictures")}
              accept="image/*"
              multiple
              className="sr-only"
              onChange={({ currentTarget }) => {
                void add([...(currentTarget.files ?? [])]);
                currentTarget.value = "";
              }}
            />
          </label>
          <textarea
            rows={2}
            dir="auto"
            maxLength={messageTextMaxLength}
            aria-label={t("masolo.broadcastText")}
            placeholder={t("chat.placeholder")}
            value={text}
            className="block max-h-40 min-h-12 min-w-0 flex-1 rounded-card border border-field bg-bg px-4 py-[11px] leading-6 focus-visible:border-accent focus-visible:outline-1 focus-visible:outline-offset-0"
            onChange={(event) => setText(event.target.value)}
          />
        </div>
        <Button type="submit" className="mt-3 w-full" busy={isBusy} disabled={!canSend}>
          {count === 0 ? t("chat.send") : t("masolo.broadcastSend", { count })}
        </Button>
      </form>
    </Sheet>
  );
}
