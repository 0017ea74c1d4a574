import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import * as v from "valibot";
import { useObjectUrl } from "#components/images/use-object-url.ts";
import { showToast } from "#components/overlays/toast.tsx";
import type { Uuid } from "#contract/ids.ts";
import { nameProblem, TypedDisplayName } from "#contract/names/display-names.ts";
import { isBlank } from "#contract/text.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { ApiRequestError, toErrorCode } from "#lib/http/http-request.ts";
import { changeProfilePicture, changeUsername } from "#sync/actions/own-profile.ts";
import type { PersonRow } from "#sync/store/database.ts";

/** Selected picture. Once saved: its storage key and the key of the picture it replaced. */
type PictureChange = { picture: Blob; saved?: { key: string | null; before: string | null } };

/** Edits that were left without saving, with the person they are of. They last as long as the page. */
let unsaved: { person: Uuid; name: string | undefined; pictureChange: PictureChange | undefined } | undefined;

/**
 * Unsaved edits of the own profile (SPEC.md §2 Profile). Edits that could not be saved are kept and the reason is
 * shown; those of a screen that was left are there again when it is opened.
 */
export const useProfileEdit = (me: PersonRow) => {
  const { t } = useTranslation();
  const [left] = useState(() => (unsaved?.person === me.id ? unsaved : undefined));
  const [name, setName] = useState(left?.name);
  const [pictureChange, setPictureChange] = useState(left?.pictureChange);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const isPending = name !== undefined || (pictureChange !== undefined && !pictureChange.saved);
  useEffect(() => {
    unsaved = isPending ? { person: me.id, name, pictureChange } : undefined;
  }, [isPending, me.id, name, pictureChange]);
  // A saved picture is shown from memory until the stored profile has a newer one.
  const isShown =
    pictureChange &&
    (!pictureChange.saved || me.avatar === pictureChange.saved.key || me.avatar === pictureChange.saved.before);
  const preview = useObjectUrl(isShown ? pictureChange.picture : undefined);

  const parseName = (typed: string): string | undefined => {
    const parsed = v.safeParse(TypedDisplayName, typed);
    if (parsed.success) return parsed.output;
    setProblem(t(isBlank(typed) ? "profile.nameEmpty" : `errors.${nameProblem(parsed.issues)}`));
    return undefined;
  };

  return {
    name,
    problem,
    preview,
    isPending,
    hasPicture: pictureChange !== undefined && !pictureChange.saved,
    isBusy,
    setName(typed: string | undefined) {
      setName(typed);
      setProblem(undefined);
    },
    setPicture: (picture: Blob) => setPictureChange({ picture }),
    cancel() {
      setName(undefined);
      setProblem(undefined);
      setPictureChange((before) => (before?.saved ? before : undefined));
    },
    async save(): Promise<void> {
      const newName = name === undefined ? me.username : parseName(name);
      if (newName === undefined) return;
      setBusy(true);
      try {
        const isChanged = newName !== me.username || (pictureChange && !pictureChange.saved);
        if (isChanged && !navigator.onLine) throw new ApiRequestError("offline", 0);
        // The name first, so that the picture's response does not bring back the old name.
        if (newName !== me.username) await changeUsername(newName);
        if (pictureChange && !pictureChange.saved) {
          const key = await changeProfilePicture(pictureChange.picture);
          setPictureChange({ ...pictureChange, saved: { key, before: me.avatar } });
        }
        // Keeps a name edit that started during the picture upload.
        setName((now) => (now === name ? undefined : now));
        if (isChanged) showToast({ message: t("profile.updated") });
      } catch (error) {
        const message = toErrorText(error, t);
        if (toErrorCode(error) === "reserved_name") setProblem(message);
        showToast({ tone: "danger", title: t("profile.updateFailed"), message });
      } finally {
        setBusy(false);
      }
    },
  };
};
