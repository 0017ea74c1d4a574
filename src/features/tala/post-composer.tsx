import { type ComponentType, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { IconButton } from "#components/controls/icon-button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { useObjectUrl } from "#components/images/use-object-url.ts";
import { useBackButton } from "#components/overlays/back-button-layers.ts";
import type CameraSheet from "#components/overlays/camera-sheet.tsx";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import { announceResult, showToast } from "#components/overlays/toast.tsx";
import { postBytesMax, postGraphemesMax } from "#contract/limits/tala.ts";
import type { Audience } from "#contract/settings/settings.ts";
import { cleanPost, countGraphemes } from "#contract/tala.ts";
import type { TextKey } from "#i18n/setup.ts";
import { isComposingKey } from "#lib/browser/composing-key.ts";
import { getPostOutcome, publishPost } from "#sync/actions/posts.ts";
import { readDefaultAudience } from "#sync/feed/default-audience.ts";
import { useDraft } from "#sync/hooks/use-draft.ts";
import { useLiveQuery } from "#sync/hooks/use-live-query.ts";
import { useSettings } from "#sync/hooks/use-settings.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { AudienceSelect } from "./audience-select.tsx";
import { type PostPictureSelection, usePostPicture } from "./use-post-picture.ts";

const announcedCharactersLeft = 20; // announced to screen readers from here on
const previewMaxPx = { width: 256, height: 128 };

type CameraSheetComponent = ComponentType<Parameters<typeof CameraSheet>[0]>;

/** Maps an error of `publishPost` to toast texts; the typed text is kept. */
const toPublishFailureText = (error: unknown): { title: TextKey; message: TextKey } => {
  const code = error instanceof SyncError ? error.code : "internal";
  if (code === "no_room") return { title: "chat.attach.noRoomTitle", message: "errors.no_room" };
  const isKnown = ["empty_post", "post_too_long", "invalid_text", "file_too_large"].includes(code);
  return { title: "common.error", message: isKnown ? `errors.${code}` : "tala.notKept" };
};

function PostPicturePreview({ picture, onRemove }: { picture: PostPictureSelection; onRemove: () => void }) {
  const { t } = useTranslation();
  const url = useObjectUrl(picture.outgoing.blob);
  const { width, height } = picture.outgoing;
  const scale = Math.min(1, previewMaxPx.width / width, previewMaxPx.height / height);
  return (
    <div className="mt-2 flex items-start gap-1">
      <div
        className="min-w-0 overflow-hidden rounded-card bg-raised"
        style={{ width: width * scale, aspectRatio: `${width} / ${height}` }}
      >
        {url && <img src={url} alt={t("tala.preview")} {...{ width, height }} className="size-full object-cover" />}
      </div>
      <IconButton
        icon="i-ph-x-bold"
        label={t("tala.removePicture")}
        className="text-muted hover:text-text"
        onClick={onRemove}
      />
    </div>
  );
}

/** Character counter. It is announced to screen readers near the limit only. */
function CharacterCounter({
  id,
  usedCharacters,
  isTooLong,
}: {
  id: string;
  usedCharacters: number;
  isTooLong: boolean;
}) {
  const { t } = useTranslation();
  const left = postGraphemesMax - usedCharacters;
  const announcement =
    left < 0
      ? t("tala.over", { count: -left })
      : left <= announcedCharactersLeft
        ? t("tala.left", { count: left })
        : "";
  return (
    <>
      <span id={id} className={`text-sm tabular-nums ${isTooLong ? "font-semibold text-danger" : "text-muted"}`}>
        {t("tala.counter", { count: usedCharacters, max: postGraphemesMax })}
      </span>
      <span role="status" className="sr-only">
        {announcement}
      </span>
    </>
  );
}

type PostComposerProps = {
  /** True if the user opened the composer, false if a draft opened it. */
  takesFocus: boolean;
  /** Called when the post is in the feed, published or pending. */
  onSaved: () => void;
  onClose: () => void;
};

/** Composer of a post. The draft is stored until it is published. */
export function PostComposer({ takesFocus, onSaved, onClose }: PostComposerProps) {
  const { t } = useTranslation();
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const gallery = useRef<HTMLInputElement>(null);
  const phoneCamera = useRef<HTMLInputElement>(null);
  const galleryButton = useRef<HTMLButtonElement>(null);
  const [text, setText] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [Camera, setCamera] = useState<CameraSheetComponent>();
  const { picture, isPreparing, choose, remove } = usePostPicture();
  const [chosenAudience, setChosenAudience] = useState<Audience>();
  const { statusesTo } = useSettings();
  const defaultAudience = useLiveQuery("defaultAudience", readDefaultAudience);
  // A change of the setting, on another device for instance, applies to the next status, not to one that is begun.
  const [initialAudience, setInitialAudience] = useState<Audience>();
  if (defaultAudience && !initialAudience && (text !== "" || picture)) setInitialAudience(defaultAudience);
  // While the settings are unknown, the server applies them: the status names none.
  const audience = chosenAudience ?? initialAudience ?? defaultAudience;
  const draftContent = { files: picture ? [picture.file] : [], text, to: [], ...(audience && { audience }) };
  useBackButton(onClose);
  const draft = useDraft("tala", isPreparing || isBusy ? undefined : draftContent, ({ files, text, audience }) => {
    setChosenAudience((before) => before ?? audience);
    setText((before) => (before === "" ? text : before));
    if (files[0]) void choose(files[0]);
  });

  useEffect(() => {
    if (takesFocus) field.current?.focus({ preventScroll: true });
  }, [takesFocus]);

  // If the user closes the composer while publishing, it may be open again for another post: then it must not be
  // closed.
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);

  const content = cleanPost(text);
  const usedCharacters = countGraphemes(content);
  // Emoji sequences and stacked combining marks are one grapheme but many bytes.
  const isTooManyBytes = new TextEncoder().encode(content).length > postBytesMax && usedCharacters <= postGraphemesMax;
  const isTooLong = isTooManyBytes || usedCharacters > postGraphemesMax;

  const showProblem = (message: TextKey, title: TextKey = "common.error") => {
    showToast({ tone: "danger", title: t(title), message: t(message), dismissOnInput: field.current });
    field.current?.focus({ preventScroll: true });
  };
  const publish = async () => {
    if (isBusy || isPreparing) return;
    if (content === "" && !picture) return showProblem("errors.empty_post");
    if (isTooLong) return showProblem(isTooManyBytes ? "tala.heavy" : "errors.post_too_long");
    setBusy(true);
    let post: string;
    try {
      post = await publishPost(content, picture?.outgoing, audience, await draft.prepareToSend());
    } catch (error) {
      setBusy(false);
      const { title, message } = toPublishFailureText(error);
      return showProblem(message, title);
    }
    await draft.discard();
    onSaved();
    // A slow publication continues in the background and is visible in the feed.
    const outcome = await getPostOutcome(post);
    if (outcome === "failed") showToast({ tone: "danger", title: t("common.error"), message: t("tala.publishFailed") });
    else if (outcome !== "takenBack") announceResult(t(outcome === "published" ? "tala.published" : "tala.kept"));
    if (isOpen.current) onClose();
  };

  // Prefers the in-app camera: a phone with little memory may discard this page while another app is in front.
  const openCamera = async () => {
    if (!("mediaDevices" in navigator)) return phoneCamera.current?.click();
    const loaded = await loadOrShowToast(() => import("#components/overlays/camera-sheet.tsx"));
    if (loaded) setCamera(() => loaded.default);
  };
  const onChosen = (input: HTMLInputElement) => {
    const file = input.files?.[0];
    if (file) void choose(file);
    input.value = ""; // the same file can be chosen again
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposingKey(event.nativeEvent)) return;
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void publish();
    else return;
    event.preventDefault();
  };

  return (
    <>
      <form
        // Leaves space for the floating close button.
        className="max-h-[calc(100%-88px)] shrink-0 overflow-y-auto border-b border-line bg-surface px-4 pt-3 pb-2"
        onSubmit={(event) => {
          event.preventDefault();
          void publish();
        }}
      >
        <textarea
          ref={field}
          rows={4}
          dir="auto"
          autoComplete="off"
          aria-label={t("tala.composer")}
          aria-invalid={isTooLong}
          aria-describedby={`${id}-count`}
          placeholder={t("tala.placeholder")}
          value={text}
          readOnly={isBusy}
          className="block max-h-48 min-h-[calc(4.5rem+24px)] w-full resize-none [field-sizing:content] rounded-card border border-field bg-bg px-4 py-[11px] leading-6 focus-visible:border-accent focus-visible:outline-1 focus-visible:outline-offset-0"
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKeyDown}
          onPaste={(event) => {
            const [file] = event.clipboardData.files;
            if (!file?.type.startsWith("image/") || event.clipboardData.types.includes("text/plain")) return;
            event.preventDefault();
            void choose(file);
          }}
        />
        <div className="mt-2 flex items-center justify-between gap-3">
          <AudienceSelect value={audience ?? statusesTo} onChoose={setChosenAudience} />
          <CharacterCounter id={`${id}-count`} usedCharacters={usedCharacters} isTooLong={isTooLong} />
        </div>
        <p role="status" className="text-sm text-danger">
          {isTooManyBytes && t("tala.heavy")}
        </p>
        {isPreparing ? (
          <p className="mt-2 flex items-center gap-2 text-muted" role="status">
            <Spinner className="text-xl" />
            {t("tala.preparing")}
          </p>
        ) : (
          picture && (
            <PostPicturePreview
              picture={picture}
              onRemove={() => {
                remove();
                galleryButton.current?.focus();
              }}
            />
          )
        )}
        <div className="mt-1 flex flex-wrap items-center gap-1">
          <IconButton
            icon="i-ph-camera"
            label={t("tala.camera")}
            className="-ml-3 text-accent"
            disabled={isBusy}
            onClick={() => void openCamera()}
          />
          <IconButton
            ref={galleryButton}
            icon="i-ph-image"
            label={t("tala.gallery")}
            className="text-accent"
            disabled={isBusy}
            onClick={() => gallery.current?.click()}
          />
          <input
            ref={gallery}
            type="file"
            accept="image/*"
            hidden
            data-attach="image"
            onChange={(event) => onChosen(event.currentTarget)}
          />
          <input
            ref={phoneCamera}
            type="file"
            accept="image/*"
            capture="environment"
            hidden
            onChange={(event) => onChosen(event.currentTarget)}
          />
          <Button
            type="submit"
            className="ml-auto"
            busy={isBusy}
            busyLabel={t("tala.publishing")}
            disabled={isPreparing}
          >
            {t("tala.publish")}
          </Button>
        </div>
      </form>
      {Camera && (
        <Camera
          type="image/png"
          onPhoto={(file) => {
            setCamera(undefined);
            void choose(file);
          }}
          onClose={() => setCamera(undefined)}
        />
      )}
    </>
  );
}
