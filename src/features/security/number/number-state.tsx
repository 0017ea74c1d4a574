import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import { PhoneNumber } from "#components/people/phone-number.tsx";
import { isWeakProof, type OwnNumber } from "#contract/auth/number.ts";
import { useFormat } from "#i18n/use-format.ts";
import { NumberCard } from "./number-card.tsx";

/** Says that somebody else has the number, and by which handle the person signs in. */
function LostNumber({ handle }: { handle: string }) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-col gap-1 px-4 pt-4 pb-1">
      <p>{t("number.lost", { handle })}</p>
      <Link
        to="/app/handle"
        className="inline-flex min-h-12 items-center self-start font-semibold text-accent underline"
      >
        {t("number.changeHandle")}
      </Link>
    </div>
  );
}

/** The own number, and whether it is verified, contested or lost. It takes the focus after a step that has ended. */
export function NumberState({ own, takesFocus }: { own: OwnNumber; takesFocus: boolean }) {
  const { t } = useTranslation();
  const { date } = useFormat();
  const { phone, handle, verified_at, contested_until, refused_method, is_vouched } = own;
  const isVerified = verified_at !== null && contested_until === null;
  const icon = isVerified ? "i-ph-seal-check text-accent" : "i-ph-seal-warning text-muted";
  return (
    <NumberCard>
      <div className="flex items-center gap-3 p-4">
        <span className={`${icon} shrink-0 text-3xl`} aria-hidden="true" />
        <p
          ref={takesFocus ? focusOnMount : undefined}
          role="status"
          tabIndex={-1}
          className="flex min-w-0 flex-col focus-visible:outline-none"
        >
          {phone === "" ? (
            <span className="font-semibold">{t("number.none")}</span>
          ) : (
            <>
              <PhoneNumber phone={phone} className="font-semibold" />
              <span className="text-muted">
                {verified_at === null
                  ? t("people.unverified")
                  : t(is_vouched ? "number.vouching.since" : "number.since", { date: date(verified_at) })}
              </span>
            </>
          )}
        </p>
      </div>
      {phone === "" && <LostNumber handle={handle ?? ""} />}
      {contested_until !== null && <p className="p-4">{t("number.contested", { date: date(contested_until) })}</p>}
      {refused_method !== null && (
        <p role="alert" className="p-4 text-danger">
          {t(isWeakProof(refused_method) ? "number.inUse" : "errors.number_in_use")}
        </p>
      )}
    </NumberCard>
  );
}
