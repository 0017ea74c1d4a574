import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import * as v from "valibot";
import { openToast, showToast } from "#components/overlays/toast.tsx";
import { DisplayName, isBlank, nameProblem } from "#contract/text.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";
import { changeProfilePicture, changeUsername } from "#sync/people/own-profile.ts";
import type { PersonRow } from "#sync/store/database.ts";

/** A chosen picture; once it is saved, under which key, and which one it took the place of. */
type PictureChange = { picture: Blob; saved?: { key: string | null; before: string | null } };

const useBlobUrl = (blob: Blob | undefined): string | undefined => {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!blob) return setUrl(undefined);
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url;
};

/**
 * What is changed of the own profile and not saved yet (SPEC.md §2 Profile). What could not be saved stays, with the
 * reason said.
 */
export const useProfileEdit = (me: PersonRow) => {
  const { t } = useTranslation();
  const [name, setName] = useState<string>();
  const [chosen, setChosen] = useState<PictureChange>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const takeBackToast = useRef(() => {});
  const isPending = name !== undefined || (chosen !== undefined && !chosen.saved);
  // A saved picture goes on being shown from here until the phone knows of another one.
  const isShown = chosen && (!chosen.saved || me.avatar === chosen.saved.key || me.avatar === chosen.saved.before);
  const preview = useBlobUrl(isShown ? chosen.picture : undefined);

  const readName = (typed: string): string | undefined => {
    const parsed = v.safeParse(DisplayName, typed);
    if (parsed.success) return parsed.output;
    const message = t(isBlank(typed) ? "profile.nameEmpty" : `errors.${nameProblem(parsed.issues)}`);
    setProblem(message);
    takeBackToast.current = openToast({ tone: "danger", title: t("common.error"), message });
    return undefined;
  };

  return {
    name,
    problem,
    preview,
    isPending,
    hasPicture: chosen !== undefined && !chosen.saved,
    isBusy,
    type(typed: string | undefined) {
      setName(typed);
      setProblem(undefined);
      takeBackToast.current();
    },
    choose: (picture: Blob) => setChosen({ picture }),
    cancel() {
      setName(undefined);
      setProblem(undefined);
      setChosen((was) => (was?.saved ? was : undefined));
    },
    async save(): Promise<void> {
      const wanted = name === undefined ? me.username : readName(name);
      if (wanted === undefined) return;
      setBusy(true);
      try {
        const isChanged = wanted !== me.username || (chosen && !chosen.saved);
        if (isChanged && !navigator.onLine) throw new ApiRequestError("offline", 0);
        // The name first: what is then told of it cannot come after a picture's answer with the old one.
        if (wanted !== me.username) await changeUsername(wanted);
        if (chosen && !chosen.saved) {
          const key = await changeProfilePicture(chosen.picture);
          setChosen({ ...chosen, saved: { key, before: me.avatar } });
        }
        // What was begun while a picture was on its way goes on.
        setName((now) => (now === name ? undefined : now));
        if (isChanged) showToast({ message: t("profile.updated") });
      } catch (error) {
        showToast({ tone: "danger", title: t("profile.updateFailed"), message: toErrorText(error, t) });
      } finally {
        setBusy(false);
      }
    },
  };
};
