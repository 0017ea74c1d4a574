import type { ReactNode } from "react";
import { AvatarButton } from "../../components/avatar-button";
import { useFormat } from "../../i18n/format";
import { useT } from "../../i18n/setup";
import type { PersonRow } from "../../sync/store";
import { PersonActions } from "./person-actions";
import { PersonSettings } from "./person-settings";

function Fact({ icon, name, children }: { icon: string; name: string; children: ReactNode }) {
  return (
    <div className="relative min-h-14 py-2 pr-4 pl-13">
      <dt className="text-sm text-muted">
        <span className={`${icon} absolute top-4 left-4 text-[24px]`} aria-hidden="true" />
        {name}
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Who somebody is, and what one can do with them. */
export function PersonView({ person }: { person: PersonRow }) {
  const t = useT();
  const { date } = useFormat();
  return (
    <div className="mx-auto flex w-full max-w-120 flex-col gap-4 p-4 pb-8">
      <div className="flex flex-col items-center gap-1 pt-4 text-center">
        <AvatarButton person={person} size={128} />
        <p className="mt-3 max-w-full text-[length:calc(1rem+8px)] leading-[calc(1rem+16px)] font-bold break-words">
          <bdi>{person.username || t("common.user")}</bdi>
        </p>
        <p className="text-muted">
          <bdi dir="ltr">{person.phone}</bdi>
        </p>
      </div>
      <PersonActions person={person} />
      <section aria-labelledby="person-information" className="rounded-card border border-line bg-surface">
        <h2 id="person-information" className="px-4 pt-3 pb-1 font-semibold">
          {t("contacts.person.information")}
        </h2>
        <dl>
          <Fact icon="i-ph-phone" name={t("contacts.person.phone")}>
            <bdi dir="ltr">{person.phone}</bdi>
          </Fact>
          <Fact icon="i-ph-calendar-blank" name={t("contacts.person.since")}>
            <time dateTime={new Date(person.createdAt).toISOString()}>{date(person.createdAt)}</time>
          </Fact>
        </dl>
      </section>
      <PersonSettings person={person} />
    </div>
  );
}
