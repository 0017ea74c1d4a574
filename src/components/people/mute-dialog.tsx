import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { SwitchRow } from "#components/controls/switch-row.tsx";
import { dialogCardClasses, Modal } from "#components/overlays/modal.tsx";
import type { ResultTexts } from "#components/overlays/run-with-toast.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";
import { toMutedText } from "./mute-texts.ts";

const hourSeconds = 3_600;
const daySeconds = 24 * hourSeconds;

/** Lengths of a mute; the last one has no end. */
const muteChoices = [
  { id: "hour", seconds: hourSeconds },
  { id: "eightHours", seconds: 8 * hourSeconds },
  { id: "week", seconds: 7 * daySeconds },
  { id: "always", seconds: undefined },
] as const;

/** Chosen length, undefined for a mute without an end, and whether mentions still notify. */
type ChosenMute = { seconds: number | undefined; exceptMentions: boolean };

type MuteDialogProps = {
  /** Whether mentions can be excepted. */
  isGroup: boolean;
  /** Whether they are excepted from the mute that is changed. */
  exceptsMentions?: boolean | undefined;
  /** Called with the chosen mute and the texts of the result. */
  onChoose: (mute: ChosenMute, texts: ResultTexts) => void;
  onClose: () => void;
};

/** Asks for how long a conversation is muted, and in a group whether mentions still notify. */
export default function MuteDialog({ isGroup, exceptsMentions = false, onChoose, onClose }: MuteDialogProps) {
  const { t } = useTranslation();
  const id = useId();
  const [exceptMentions, setExceptMentions] = useState(exceptsMentions);
  const choose = (seconds: number | undefined) => {
    onClose();
    const mutedUntil = seconds === undefined ? null : getServerNow() + seconds * 1_000;
    const announced = toMutedText({ mutedUntil, mutedExceptMentions: exceptMentions }, t);
    onChoose({ seconds, exceptMentions }, { announced, failed: t("mute.failed") });
  };
  return (
    <Modal labelledBy={id} className={dialogCardClasses} onDismiss={onClose}>
      <div className="flex flex-col gap-2 p-4">
        <h2 id={id} className="px-2 pt-2 pb-1 text-xl font-bold break-words">
          {t("mute.on")}
        </h2>
        {isGroup && (
          <SwitchRow
            label={t("mute.keepMentions")}
            description={t("mute.keepMentionsHint")}
            isOn={exceptMentions}
            onChange={setExceptMentions}
          />
        )}
        {muteChoices.map((choice, index) => (
          <Button
            key={choice.id}
            variant="secondary"
            data-autofocus={index === 0 || undefined}
            onClick={() => choose(choice.seconds)}
          >
            {t(`mute.for.${choice.id}`)}
          </Button>
        ))}
        <Button variant="quiet" onClick={onClose}>
          {t("common.cancel")}
        </Button>
      </div>
    </Modal>
  );
}
