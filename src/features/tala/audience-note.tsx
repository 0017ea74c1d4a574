import { useTranslation } from "react-i18next";
import type { Audience } from "#contract/settings/settings.ts";

export const audienceIcons = {
  everyone: "i-ph-globe",
  contacts: "i-ph-users",
  contacts_except: "i-ph-users",
  nobody: "i-ph-lock-simple",
} as const satisfies Record<Audience, string>;

/** Label of a status that not everybody may read. Exceptions are not shown: the screen may be seen by others. */
export function AudienceNote({ audience }: { audience: Audience | undefined }) {
  const { t } = useTranslation();
  if (audience === undefined || audience === "everyone") return null;
  return (
    <span className="inline-flex items-center gap-1">
      <span aria-hidden="true">·</span>
      <span className={`${audienceIcons[audience]} shrink-0 text-base`} aria-hidden="true" />
      <span className="sr-only">{t("tala.audience.label")}</span>
      {t(audience === "nobody" ? "tala.audience.noteNobody" : "tala.audience.noteContacts")}
    </span>
  );
}
