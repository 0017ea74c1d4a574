import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Spinner } from "#components/controls/spinner.tsx";
import { useNavigateIfStillHere } from "#components/layout/use-navigate-if-still-here.ts";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { MuteDialog } from "#components/people/lazy-dialogs.ts";
import { toUnmuteLabel } from "#components/people/mute-texts.ts";
import { BlockPersonDialog } from "#components/people/person-dialogs.tsx";
import { toNameOrNumber } from "#components/people/person-name.ts";
import { privateConversationId } from "#contract/ids.ts";
import { useSession } from "#lib/session/use-session.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { blockPerson, unblockPerson } from "#sync/actions/contacts.ts";
import { muteConversation } from "#sync/actions/conversations.ts";
import { useConversation } from "#sync/hooks/use-conversations.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { useContactDeletion } from "./use-contact-deletion.tsx";

type PersonSettingRowProps = { icon: string; label: string; isBusy?: boolean; isDanger?: boolean; onClick: () => void };

function PersonSettingRow({ icon, label, isBusy = false, isDanger = false, onClick }: PersonSettingRowProps) {
  return (
    <li>
      <button
        type="button"
        aria-busy={isBusy || undefined}
        aria-disabled={isBusy || undefined}
        className={`flex min-h-14 w-full items-center gap-3 px-4 text-left -outline-offset-3 hover:bg-raised ${isDanger ? "text-danger" : ""}`}
        onClick={isBusy ? undefined : onClick}
      >
        {isBusy ? (
          <Spinner className="text-2xl" />
        ) : (
          <span className={`${icon} text-2xl ${isDanger ? "" : "text-muted"}`} aria-hidden="true" />
        )}
        {label}
      </button>
    </li>
  );
}

/** The user's own settings for another person: mute, block, delete contact. */
export function PersonSettings({ person }: { person: PersonRow }) {
  const { t } = useTranslation();
  const navigateIfStillHere = useNavigateIfStillHere();
  const me = useSession()?.userId ?? "";
  const conversation = privateConversationId(me, person.id);
  const view = useConversation(conversation);
  const [busy, setBusy] = useState<"mute" | "block">();
  const [isMuting, setMuting] = useState(false);
  const [isConfirming, setConfirming] = useState(false);
  const deletion = useContactDeletion();
  const name = toNameOrNumber(person);
  const isBlocked = person.blocked === 1;
  const isMuted = view?.muted ?? false;

  const run = async (task: "mute" | "block", ...command: Parameters<typeof runWithToast>): Promise<boolean> => {
    setBusy(task);
    const isDone = await runWithToast(...command);
    setBusy((now) => (now === task ? undefined : now));
    return isDone;
  };
  const unmute = () =>
    run("mute", () => muteConversation(conversation, false), { announced: t("mute.isOff"), failed: t("mute.failed") });
  const block = async () => {
    setConfirming(false);
    const texts = { done: t("people.blocked", { name: isolateBidi(name) }), failed: t("people.blockFailed") };
    if (await run("block", () => blockPerson(person.id), texts)) navigateIfStillHere("/app");
  };
  const unblock = () =>
    run("block", () => unblockPerson(person.id), {
      announced: t("people.unblocked", { name: isolateBidi(name) }),
      failed: t("people.unblockFailed"),
    });

  return (
    <>
      <ul className="divide-y divide-line overflow-hidden rounded-card border border-line bg-surface">
        {view?.isStored && (
          <PersonSettingRow
            icon={isMuted ? "i-ph-bell" : "i-ph-bell-slash"}
            label={isMuted ? toUnmuteLabel(view.mutedUntil, t) : t("mute.on")}
            isBusy={busy === "mute"}
            onClick={() => (isMuted ? void unmute() : setMuting(true))}
          />
        )}
        {view?.isStored && isMuted && (
          <PersonSettingRow
            icon="i-ph-bell-slash"
            label={t("mute.change")}
            isBusy={busy === "mute"}
            onClick={() => setMuting(true)}
          />
        )}
        {isBlocked ? (
          <PersonSettingRow
            icon="i-ph-prohibit"
            label={t("people.unblockName", { name })}
            isBusy={busy === "block"}
            onClick={() => void unblock()}
          />
        ) : (
          <PersonSettingRow
            icon="i-ph-prohibit"
            label={t("people.blockName", { name })}
            isBusy={busy === "block"}
            isDanger
            onClick={() => setConfirming(true)}
          />
        )}
        {person.state === "contact" && (
          <PersonSettingRow
            icon="i-ph-trash"
            label={t("chat.deleteContact")}
            isBusy={deletion.deletingIds.has(person.id)}
            isDanger
            onClick={() => deletion.ask(person)}
          />
        )}
      </ul>
      {isMuting && (
        <MuteDialog
          isGroup={false}
          onChoose={(mute, texts) => void run("mute", () => muteConversation(conversation, true, mute), texts)}
          onClose={() => setMuting(false)}
        />
      )}
      {isConfirming && (
        <BlockPersonDialog name={name} onConfirm={() => void block()} onClose={() => setConfirming(false)} />
      )}
      {deletion.dialog}
    </>
  );
}
