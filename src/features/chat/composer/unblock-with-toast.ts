import { runWithToast } from "#components/overlays/run-with-toast.ts";
import type { Uuid } from "#contract/ids.ts";
import { t } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { unblockPerson } from "#sync/actions/contacts.ts";

/** Unblocks a person and says so, or that it failed. */
export const unblockWithToast = (userId: Uuid, name: string): Promise<boolean> =>
  runWithToast(() => unblockPerson(userId), {
    announced: t("people.unblocked", { name: isolateBidi(name) }),
    failed: t("people.unblockFailed"),
  });
