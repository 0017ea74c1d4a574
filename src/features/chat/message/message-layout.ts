import type { CallBody } from "#contract/calls/call.ts";
import { isSameDay } from "#i18n/relative-date.ts";
import type { ChatItem } from "#sync/hooks/use-live-query.ts";
import {
  besidePx,
  bubbleMaxPx,
  bubbleShare,
  callHighPx,
  callIconPx,
  callVoicePx,
  cardHighPx,
  cardPx,
  forwardedPx,
  listEdgePx,
  moreButtonPx,
  namePx,
  pictureBox,
  picturePaddingPx,
} from "./bubble-box.ts";
import { foldText } from "./text-folding.ts";

const runGapMs = 5 * 60_000;

export type Placement = {
  /** The newest of its day: the heading of the next day stands below it. */
  endsDay: boolean;
  /** The last of a run of one person's messages close in time. */
  endsRun: boolean;
  /** Room is left at its side for the picture of who wrote it: one of several others. */
  isBeside: boolean;
  /** Their name stands in it, as the first of a run. */
  isNamed: boolean;
};

const isLine = ({ body }: ChatItem): boolean => body.type === "event";

const isRun = (a: ChatItem, b: ChatItem): boolean =>
  !isLine(a) &&
  !isLine(b) &&
  a.mine === b.mine &&
  (a.mine || a.sender === b.sender) &&
  Math.abs(b.at - a.at) < runGapMs &&
  isSameDay(a.at, b.at);

/**
 * How a message stands to the newer one below it, and in a group to the older one above it. What separates them
 * belongs to the older of the two, so that a page of older messages changes little of what is already shown.
 */
export const placementOf = (
  item: ChatItem,
  newer: ChatItem | undefined,
  inGroup?: { older: ChatItem | undefined },
): Placement => {
  const isBeside = inGroup !== undefined && !item.mine && !isLine(item);
  return {
    endsDay: newer !== undefined && !isSameDay(item.at, newer.at),
    endsRun: !newer || !isRun(item, newer),
    isBeside,
    isNamed: isBeside && (!inGroup.older || !isRun(inGroup.older, item)),
  };
};

const linePx = 22.4;
const letterPx = 8; // rather too wide than too narrow
const aroundTextPx = 16;
const sidesPx = 2 * 12;
const timePx = 72; // the time and the ticks share the last line
const noteLetters = 17; // "Message supprimé"
const unreadableLetters = 53;
const fileIconPx = 48 + 12;
const longNamePx = 10; // a name of two lines, and the size below it
const captionAroundPx = 10; // of a picture's
const captionGapPx = 4; // above a file's
const dayHeadingPx = 42;
const eventLetters = 44; // "Ana a renommé le groupe en « Famille Mbuyi »."
const eventLinePx = 20;
const callLetters = 18; // "Appel audio annulé"
const factsPx = 16; // below its outcome
const declinedLetters = 38; // "Appel audio refusé par Benoît Kabongo"
const aroundEventPx = 8 + 8; // within its ground and around it

/** How high a text stands in this much width, its own last line shared with the time. */
const textHeight = (whole: string, widthPx: number, isOpen: boolean): number => {
  const start = isOpen ? undefined : foldText(whole);
  let lines = 0;
  let lastPx = 0;
  for (const line of (start ?? whole).split("\n")) {
    const px = line.length * letterPx;
    lines += Math.max(1, Math.ceil(px / widthPx));
    lastPx = px % widthPx;
  }
  if (start === undefined && lastPx + timePx > widthPx) lines++;
  return lines * linePx + (start === undefined ? 0 : moreButtonPx);
};

/** Its outcome is one line, but where it names somebody and there is no room. */
const callHeight = ({ status }: CallBody, isMine: boolean, textPx: number): number => {
  const letters = status === "rejected" && isMine ? declinedLetters : callLetters;
  const besidePx = callIconPx + (status === "missed" ? callVoicePx : 0);
  const lines = Math.ceil((letters * letterPx) / (textPx - besidePx));
  return Math.max(callHighPx, lines * linePx + factsPx + aroundTextPx);
};

const bodyHeight = ({ body, mine }: ChatItem, listPx: number, isOpen: boolean): number => {
  const textPx = Math.max(letterPx, Math.min(listPx * bubbleShare, bubbleMaxPx) - sidesPx);
  const insidePx = Math.min((listPx - 2 * listEdgePx) * bubbleShare, bubbleMaxPx);
  switch (body.type) {
    case "text":
      return textHeight(body.text, textPx, isOpen) + aroundTextPx;
    case "image": {
      const { widthPx, ratio } = pictureBox(body.width, body.height);
      const roomPx = Math.min(widthPx, insidePx - 2 * picturePaddingPx);
      const caption = body.text ? textHeight(body.text, roomPx - 16, isOpen) + captionAroundPx : 0;
      return roomPx / ratio + 2 * picturePaddingPx + caption;
    }
    case "file": {
      const roomPx = Math.min(cardPx, insidePx) - sidesPx;
      const isLong = body.name.length * letterPx > roomPx - fileIconPx;
      return (
        cardHighPx + (isLong ? longNamePx : 0) + (body.text ? textHeight(body.text, roomPx, isOpen) + captionGapPx : 0)
      );
    }
    case "voice":
      return cardHighPx;
    case "call":
      return callHeight(body, mine, textPx);
    case "event":
      return Math.ceil((eventLetters * letterPx) / textPx) * eventLinePx + aroundEventPx;
    default: {
      const letters = body.type === "deleted" ? noteLetters : unreadableLetters;
      return textHeight("n".repeat(letters), textPx, true) + aroundTextPx;
    }
  }
};

/**
 * About how high a message will be in a list this wide: the better it is, the less moves when it is drawn. A long
 * text counts as it stands folded unless `isOpen`.
 */
export const estimateHeight = (
  item: ChatItem,
  { endsDay, endsRun, isBeside, isNamed }: Placement,
  listPx: number,
  isOpen = false,
): number => {
  const { body } = item;
  const forwarded = "forwarded" in body && body.forwarded ? forwardedPx : 0;
  const content = bodyHeight(item, listPx - (isBeside ? besidePx : 0), isOpen);
  // Whole pixels, as the list measures.
  return Math.round(content + forwarded + (isNamed ? namePx : 0) + (endsRun ? 8 : 2) + (endsDay ? dayHeadingPx : 0));
};
