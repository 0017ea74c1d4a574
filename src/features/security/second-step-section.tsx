import { useState } from "react";
import type { Factor } from "../../../contract/auth";
import { factorsMax } from "../../../contract/limits";
import type { Security } from "../../../contract/security";
import { ConfirmDialog } from "../../components/dialog";
import { IconButton } from "../../components/icon-button";
import { SettingsCard } from "../../components/settings-page";
import { SwitchRow } from "../../components/switch-row";
import { showToast } from "../../components/toast";
import { useFormat } from "../../i18n/format";
import { useT } from "../../i18n/setup";
import { failureCode } from "../../lib/exchange";
import { failureText } from "../../lib/failure-text";
import { isolate } from "../../lib/isolate";
import { setPasskeyStep } from "../../lib/passkeys";
import { findSteps, listApps } from "../../lib/security";
import { makeRecoveryCodes, removeApp } from "./account";
import { AddAppSheet } from "./add-app-sheet";
import { useAskedChange, useCarryOut, useChanges } from "./changes";
import { CodesSheet } from "./codes-sheet";
import { ActionRow, CardText, Row } from "./row";

function AppRow({ app, isLast }: { app: Factor; isLast: boolean }) {
  const t = useT();
  const format = useFormat();
  const name = app.friendly_name;
  const done = t("security.apps.removed", { name: isolate(name) });
  const { ask, dialog } = useAskedChange(() => removeApp(app.id), done);
  return (
    <li>
      <Row
        icon="i-ph-device-mobile"
        title={<bdi>{name}</bdi>}
        details={[t("security.added", { date: format.date(Date.parse(app.created_at)) })]}
        end={
          <IconButton
            icon="i-ph-trash"
            label={t("security.removeName", { name })}
            aria-haspopup="dialog"
            onClick={ask}
          />
        }
      />
      <ConfirmDialog
        {...dialog}
        title={t("security.apps.removeTitle", { name: isolate(name) })}
        body={t(isLast ? "security.apps.removeLast" : "security.apps.removeBody")}
        confirmLabel={t("security.remove")}
        cancelLabel={t("common.cancel")}
      />
    </li>
  );
}

/** What is asked for, by which words; codes apart, which stand for the others. */
function Standing({ security }: { security: Security }) {
  const t = useT();
  const isOn = findSteps(security) !== undefined;
  return (
    <div className="flex items-start gap-3 px-4 py-3">
      <span
        className={`mt-0.5 shrink-0 text-2xl ${isOn ? "i-ph-shield-check-fill text-accent" : "i-ph-shield text-muted"}`}
        aria-hidden="true"
      />
      <div className="min-w-0">
        <p className="font-semibold">{t(isOn ? "security.step.on" : "security.step.off")}</p>
        <p className="text-sm text-muted">{t(isOn ? "security.step.onBody" : "security.step.offBody")}</p>
      </div>
    </div>
  );
}

type SecondStepSectionProps = { security: Security };

/** What is asked after the password: code apps, passkeys, and the codes on paper that stand for either. */
export function SecondStepSection({ security }: SecondStepSectionProps) {
  const t = useT();
  const carryOut = useCarryOut();
  const { withProof, reload } = useChanges();
  const [isAdding, setAdding] = useState(false);
  const [offer, setOffer] = useState<"first" | "anew">();
  const [codes, setCodes] = useState<string[]>();
  const [isMaking, setMaking] = useState(false);
  const apps = listApps(security);
  const left = security.recovery_codes;
  const isAsked = findSteps(security) !== undefined;
  /** Whoever is asked for something must not depend on the one thing they have. */
  const offerCodes = () => !left && setOffer("first");

  const wordsOfLeft = (count: number | null): string => {
    if (count === null) return t("security.codes.none");
    return count === 0 ? t("security.codes.gone") : t("security.codes.left", { count });
  };
  const makeCodes = async () => {
    setMaking(true);
    try {
      await withProof(async () => {
        const made = await makeRecoveryCodes();
        setOffer(undefined);
        setCodes(made);
      });
    } catch (error) {
      const isUnheard = failureCode(error) === "offline";
      const message = isUnheard ? t("security.codes.unheard") : failureText(error, t);
      showToast({ tone: "danger", title: t("common.error"), message });
    }
    setOffer(undefined);
    setMaking(false);
    void reload();
  };
  const switchKeys = async (isWanted: boolean) => {
    const done = t(isWanted ? "security.step.keysOn" : "security.step.keysOff");
    if ((await carryOut(() => setPasskeyStep(isWanted), done)) && isWanted) offerCodes();
  };
  return (
    <SettingsCard title={t("security.step.title")} icon="i-ph-shield-check">
      {(heading) => (
        <>
          <Standing security={security} />
          {apps.length > 0 && (
            <ul aria-label={t("security.apps.title")} className="divide-y divide-line">
              {apps.map((app) => (
                <AppRow key={app.id} app={app} isLast={apps.length === 1} />
              ))}
            </ul>
          )}
          {apps.length === 0 && <CardText>{t("security.step.how")}</CardText>}
          {apps.length < factorsMax && (
            <ActionRow icon="i-ph-plus-circle" label={t("security.apps.add")} onPress={() => setAdding(true)} />
          )}
          {security.passkeys.length > 0 && (
            <SwitchRow
              label={t("security.step.keys")}
              body={t("security.step.keysBody")}
              within={heading}
              isOn={security.passkey_second_step}
              onChange={(isWanted) => void switchKeys(isWanted)}
            />
          )}
          {(left !== null || isAsked) && (
            <>
              <Row icon="i-ph-list-numbers" title={t("security.codes.title")} details={[wordsOfLeft(left)]} />
              <ActionRow
                icon="i-ph-arrows-clockwise"
                label={t(left === null ? "security.codes.make" : "security.codes.makeAnew")}
                onPress={() => setOffer(left ? "anew" : "first")}
              />
            </>
          )}
          {isAdding && (
            <AddAppSheet
              names={apps.map((app) => app.friendly_name)}
              onAdded={(name) => {
                if (left) showToast({ message: t("security.apps.added", { name: isolate(name) }) });
                offerCodes();
              }}
              onClose={() => setAdding(false)}
            />
          )}
          <ConfirmDialog
            open={offer !== undefined}
            title={t(offer === "anew" ? "security.codes.anewTitle" : "security.codes.firstTitle")}
            body={t(offer === "anew" ? "security.codes.anewBody" : "security.codes.firstBody")}
            confirmLabel={t("security.codes.makeNow")}
            cancelLabel={t(offer === "anew" ? "common.cancel" : "security.codes.later")}
            tone="accent"
            busy={isMaking}
            onConfirm={() => void makeCodes()}
            onClose={() => setOffer(undefined)}
          />
          {codes && <CodesSheet codes={codes} onClose={() => setCodes(undefined)} />}
        </>
      )}
    </SettingsCard>
  );
}
