import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { Tabs } from "#components/controls/tabs.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { isNearScrollEnd } from "#components/layout/scroll-end.ts";
import { Sheet } from "#components/overlays/sheet.tsx";
import type { ConversationId } from "#contract/ids.ts";
import ImageViewer from "#features/chat/attachments/image-viewer.tsx";
import { useMentionedMembers } from "#features/chat/message/senders.ts";
import type { TextKey } from "#i18n/setup.ts";
import type { GalleryKind } from "#sync/queries/media-gallery.ts";
import { ImageGrid } from "./image-grid.tsx";
import { MediaList } from "./media-list.tsx";
import { type MediaPages, useMediaPages } from "./use-media-pages.ts";

const kinds = [
  { kind: "image", label: "gallery.image", none: "gallery.none.image", icon: "i-ph-image" },
  { kind: "voice", label: "gallery.voice", none: "gallery.none.voice", icon: "i-ph-microphone" },
  { kind: "file", label: "gallery.file", none: "gallery.none.file", icon: "i-ph-file" },
  { kind: "link", label: "gallery.link", none: "gallery.none.link", icon: "i-ph-link" },
] as const satisfies { kind: GalleryKind; label: TextKey; none: TextKey; icon: string }[];

/** State below the items: more are being loaded, could not be loaded, or there are none. */
function PagesStatus({ pages, none, icon }: { pages: MediaPages; none: TextKey; icon: string }) {
  const { t } = useTranslation();
  const { items, isLoading, isComplete, error, loadMore } = pages;
  return (
    <>
      <div role="status" className="grid justify-items-center text-accent">
        {isLoading && <Spinner label={t("common.loading")} className="m-6 text-3xl" />}
      </div>
      {error !== undefined && !isLoading && (
        <div role="alert" className="grid justify-items-center gap-3 p-6 text-center text-muted">
          <p>{error === "offline" ? t("gallery.offline") : t(`errors.${error}`)}</p>
          <Button variant="secondary" onClick={loadMore}>
            {t("common.retry")}
          </Button>
        </div>
      )}
      {isComplete && items.length === 0 && <EmptyState icon={icon} title={t(none)} />}
    </>
  );
}

type MediaGalleryProps = {
  conversation: ConversationId;
  name: string;
  /** Member number of this user; only in a group. */
  ownNumber: number | undefined;
  /** Shows a message in the chat. */
  onShowMessage: (seq: number) => void;
  onClose: () => void;
};

/** Images, voice messages, files and links of a chat: at once those on this device, then those on the server. */
export default function MediaGallery({ conversation, name, ownNumber, onShowMessage, onClose }: MediaGalleryProps) {
  const { t } = useTranslation();
  const [kind, setKind] = useState<GalleryKind>("image");
  const [openedKey, setOpenedKey] = useState<string>();
  const pages = useMediaPages(conversation, kind);
  const { items, isComplete, isLoading, error, loadMore } = pages;
  const people = { name, members: useMentionedMembers(conversation, ownNumber, items) };
  const label = t(kinds.find((one) => one.kind === kind)?.label ?? "gallery.title");
  const list = { conversation, items, people, label };
  return (
    <Sheet title={t("gallery.title")} onClose={onClose}>
      <div
        className="min-h-0 flex-1 overflow-y-auto overscroll-contain pb-safe"
        onScroll={({ currentTarget }) => {
          if (isNearScrollEnd(currentTarget) && !isComplete && !isLoading && error === undefined) loadMore();
        }}
      >
        <Tabs
          label={t("gallery.title")}
          value={kind}
          onChange={(id) => setKind(kinds.find((one) => one.kind === id)?.kind ?? "image")}
          items={kinds.map((one) => ({
            id: one.kind,
            label: t(one.label),
            panel: (
              <>
                {items.length > 0 &&
                  (kind === "image" ? (
                    <ImageGrid {...list} onOpen={setOpenedKey} />
                  ) : (
                    <MediaList {...list} kind={kind} onShowMessage={onShowMessage} />
                  ))}
                <PagesStatus pages={pages} none={one.none} icon={one.icon} />
              </>
            ),
          }))}
        />
      </div>
      {openedKey !== undefined && (
        <ImageViewer
          conversation={conversation}
          items={items}
          startKey={openedKey}
          people={people}
          onShowMessage={onShowMessage}
          onClose={() => setOpenedKey(undefined)}
        />
      )}
    </Sheet>
  );
}
