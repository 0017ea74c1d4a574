import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { IconButton } from "#components/controls/icon-button.tsx";
import { prepareTitleFocus } from "#components/focus/title-focus.ts";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { toAvatarPerson, unknownPerson } from "#components/people/avatar-text.ts";
import { toMutedText } from "#components/people/mute-texts.ts";
import { PersonListItem } from "#components/people/person-row.tsx";
import { muteConversation } from "#sync/actions/conversations.ts";
import { type MutedConversation, useMutedConversations } from "#sync/hooks/use-muted.ts";

function MutedConversationRow({
  conversation: { id, peer, person, group, mutedUntil, mutedExceptMentions },
}: {
  conversation: MutedConversation;
}) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const avatarPerson = group ? toAvatarPerson(group, id) : (person ?? unknownPerson);
  const unmute = async () => {
    const moveFocus = prepareTitleFocus();
    setBusy(true);
    const isDone = await runWithToast(() => muteConversation(id, false), {
      announced: t("mute.isOff"),
      failed: t("mute.failed"),
    });
    setBusy(false);
    // The row with the focused button is removed: focus the page title.
    if (isDone) moveFocus();
  };
  return (
    <li className="flex items-center gap-1 py-2 pr-1 pl-4">
      <Link
        to={peer === undefined ? `/app/group/${id}` : `/app/chat/${peer}`}
        className="flex min-h-12 min-w-0 flex-1 items-center rounded-card"
      >
        <PersonListItem
          person={{ ...avatarPerson, phone: "" }}
          {...(mutedUntil === null && !mutedExceptMentions
            ? {}
            : { note: toMutedText({ mutedUntil, mutedExceptMentions }, t) })}
        />
      </Link>
      <IconButton
        icon="i-ph-bell"
        label={t("settings.notifications.unmute", { name: avatarPerson.username || t("common.user") })}
        className="text-muted"
        aria-busy={isBusy || undefined}
        disabled={isBusy}
        onClick={() => void unmute()}
      />
    </li>
  );
}

/** Muted conversations with links to them and buttons to unmute. */
export function MutedConversationList() {
  const { t } = useTranslation();
  const muted = useMutedConversations();
  if (!muted) return null;
  return (
    <SettingsCard
      title={`${t("settings.notifications.muted")}${muted.length > 0 ? ` (${muted.length})` : ""}`}
      icon="i-ph-bell-slash"
    >
      {(heading) =>
        muted.length === 0 ? (
          <p className="px-4 py-3 text-sm text-muted">{t("settings.notifications.mutedNone")}</p>
        ) : (
          <ul aria-labelledby={heading} className="divide-y divide-line">
            {muted.map((conversation) => (
              <MutedConversationRow key={conversation.id} conversation={conversation} />
            ))}
          </ul>
        )
      }
    </SettingsCard>
  );
}
