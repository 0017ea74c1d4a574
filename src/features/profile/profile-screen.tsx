import { type ReactNode, useId } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { IconLabel } from "#components/controls/icon-label.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { ownNumberPath, parseOwnNumber } from "#sync/actions/own-number.ts";
import { useOwnProfile } from "#sync/hooks/use-people.ts";
import { useRemoteQuery } from "#sync/hooks/use-remote.ts";
import { DeleteAccountButton } from "./delete-account.tsx";
import { LanguagePicker } from "./language-picker.tsx";
import { OwnProfileHeader } from "./profile-header.tsx";
import { useSignOut } from "./use-sign-out.tsx";

const numberPath = "/app/verify-number";
const settingsPages = [
  { path: numberPath, icon: "i-ph-seal-check", title: "number.title" },
  { path: "/app/handle", icon: "i-ph-at", title: "handle.title" },
  { path: "/app/appearance", icon: "i-ph-palette", title: "appearance.title" },
  { path: "/app/notifications", icon: "i-ph-bell", title: "settings.notifications.title" },
  { path: "/app/privacy", icon: "i-ph-lock-simple", title: "settings.privacy.title" },
  { path: "/app/security", icon: "i-ph-shield-check", title: "security.title" },
  { path: "/app/blocked", icon: "i-ph-prohibit", title: "blocked.title" },
  { path: "/app/install", icon: "i-ph-device-mobile", title: "install.title" },
  { path: "/app/help", icon: "i-ph-lifebuoy", title: "help.title" },
] as const;

/** Whether the own number is verified. Only the server knows. */
function OwnNumberState() {
  const { t } = useTranslation();
  const [query] = useRemoteQuery(ownNumberPath, true, parseOwnNumber);
  if (query.state !== "found") return null;
  return (
    <span className="text-sm text-muted">
      {query.body.phone === "" && query.body.handle !== null && (
        <bdi dir="ltr" className="block">
          @{query.body.handle}
        </bdi>
      )}
      {t(
        query.body.phone === ""
          ? "number.none"
          : query.body.verified_at === null || query.body.contested_until !== null
            ? "number.unverified"
            : "number.verified",
      )}
    </span>
  );
}

function SettingsPageLink({
  to,
  icon,
  label,
  children,
}: {
  to: string;
  icon: string;
  label: string;
  children?: ReactNode;
}) {
  return (
    <Link to={to} className="flex min-h-14 items-center gap-3 px-4 py-2 -outline-offset-3 hover:bg-raised">
      <span className={`${icon} text-2xl text-muted`} aria-hidden="true" />
      <span className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3">
        <span className="min-w-[min(100%,4.5rem)] flex-1 break-words">{label}</span>
        {children}
      </span>
      <span className="i-ph-caret-right text-muted" aria-hidden="true" />
    </Link>
  );
}

/** Own profile: picture and name, links to the settings pages, sign-out and account deletion. */
export default function ProfileScreen() {
  const { t } = useTranslation();
  const me = useOwnProfile();
  const signOutHintId = useId();
  const { busy, requestSignOut, dialog } = useSignOut();
  return (
    <Screen
      title={t("profile.title")}
      description={t("profile.description")}
      backPath="/app"
      backMode="previous"
      hasProfileButton={false}
    >
      <div className="mx-auto flex w-full max-w-120 flex-col gap-4 p-4 pb-8">
        {me ? <OwnProfileHeader key={me.id} me={me} /> : <div className="min-h-54" />}
        <section
          aria-label={t("profile.settings")}
          className="divide-y divide-line overflow-hidden rounded-card border border-line bg-surface"
        >
          <LanguagePicker />
          {settingsPages.map(({ path, icon, title }) => (
            <SettingsPageLink key={path} to={path} icon={icon} label={t(title)}>
              {path === numberPath && <OwnNumberState />}
            </SettingsPageLink>
          ))}
        </section>
        <div className="flex flex-col gap-1">
          <Button
            variant="secondary"
            busy={busy === "local"}
            disabled={busy === "global"}
            aria-describedby={signOutHintId}
            onClick={() => void requestSignOut("local")}
          >
            <IconLabel icon="i-ph-sign-out" label={t("profile.signOut")} />
          </Button>
          <p id={signOutHintId} className="text-center text-sm text-muted">
            {t("profile.signOutHere")}
          </p>
          <Button
            variant="quiet"
            busy={busy === "global"}
            disabled={busy === "local"}
            onClick={() => void requestSignOut("global")}
          >
            {t("profile.signOutAll")}
          </Button>
        </div>
        <DeleteAccountButton />
      </div>
      {dialog}
    </Screen>
  );
}
