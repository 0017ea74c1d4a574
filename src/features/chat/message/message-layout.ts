import type { CallBody } from "#contract/calls/call.ts";
import { isSameDay } from "#i18n/relative-date.ts";
import type { ChatItem } from "#sync/hooks/use-live-query.ts";
import {
  avatarColumnPx,
  bubbleMaxPx,
  bubbleWidthShare,
  callHeightPx,
  callIconPx,
  callVoiceButtonPx,
  cardHeightPx,
  cardWidthPx,
  forwardedLabelPx,
  imagePaddingPx,
  listEdgePx,
  senderNamePx,
  showMoreButtonPx,
  toImageBox,
} from "./bubble-metrics.ts";
import { collapseText } from "./collapse-text.ts";

const runGapMs = 5 * 60_000;

export type MessagePlacement = {
  /** The newest of its day: the heading of the next day stands below it. */
  endsDay: boolean;
  /** The last of a run of one person's messages close in time. */
  endsRun: boolean;
  /** Room is left at its side for the picture of who wrote it: one of several others. */
  hasAvatarColumn: boolean;
  /** Their name stands in it, as the first of a run. */
  hasSenderName: boolean;
};

const isEventItem = ({ body }: ChatItem): boolean => body.type === "event";

const isSameRun = (a: ChatItem, b: ChatItem): boolean =>
  !isEventItem(a) &&
  !isEventItem(b) &&
  a.mine === b.mine &&
  (a.mine || a.sender === b.sender) &&
  Math.abs(b.at - a.at) < runGapMs &&
  isSameDay(a.at, b.at);

/**
 * How a message stands to the newer one below it, and in a group to the older one above it. What separates them
 * belongs to the older of the two, so that a page of older messages changes little of what is already shown.
 */
export const toMessagePlacement = (
  item: ChatItem,
  newer: ChatItem | undefined,
  inGroup?: { older: ChatItem | undefined },
): MessagePlacement => {
  const isBeside = inGroup !== undefined && !item.mine && !isEventItem(item);
  return {
    endsDay: newer !== undefined && !isSameDay(item.at, newer.at),
    endsRun: !newer || !isSameRun(item, newer),
    hasAvatarColumn: isBeside,
    hasSenderName: isBeside && (!inGroup.older || !isSameRun(inGroup.older, item)),
  };
};

const lineHeightPx = 22.4;
const charWidthPx = 8; // rather too wide than too narrow
const textPaddingPx = 16;
const bubbleSidesPx = 2 * 12;
const timestampPx = 72; // the time and the ticks share the last line
const deletedTextChars = 17; // "Message supprimé"
const unreadableTextChars = 53;
const fileIconPx = 48 + 12;
const secondNameLinePx = 10; // a name of two lines, and the size below it
const imageCaptionPaddingPx = 10; // of a picture's
const fileCaptionGapPx = 4; // above a file's
const dayHeadingPx = 42;
const eventTextChars = 44; // "Ana a renommé le groupe en « Famille Mbuyi »."
const eventLineHeightPx = 20;
const callOutcomeChars = 18; // "Appel audio annulé"
const callDetailsPx = 16; // below its outcome
const declinedByChars = 38; // "Appel audio refusé par Benoît Kabongo"
const eventPaddingPx = 8 + 8; // within its ground and around it

/** How high a text stands in this much width, its own last line shared with the time. */
const estimateTextHeight = (whole: string, widthPx: number, isOpen: boolean): number => {
  const start = isOpen ? undefined : collapseText(whole);
  let lines = 0;
  let lastPx = 0;
  for (const line of (start ?? whole).split("\n")) {
    const px = line.length * charWidthPx;
    lines += Math.max(1, Math.ceil(px / widthPx));
    lastPx = px % widthPx;
  }
  if (start === undefined && lastPx + timestampPx > widthPx) lines++;
  return lines * lineHeightPx + (start === undefined ? 0 : showMoreButtonPx);
};

/** Its outcome is one line, but where it names somebody and there is no room. */
const estimateCallHeight = ({ status }: CallBody, isMine: boolean, textPx: number): number => {
  const letters = status === "rejected" && isMine ? declinedByChars : callOutcomeChars;
  const besidePx = callIconPx + (status === "missed" ? callVoiceButtonPx : 0);
  const lines = Math.ceil((letters * charWidthPx) / (textPx - besidePx));
  return Math.max(callHeightPx, lines * lineHeightPx + callDetailsPx + textPaddingPx);
};

const estimateBodyHeight = ({ body, mine }: ChatItem, listPx: number, isOpen: boolean): number => {
  const textPx = Math.max(charWidthPx, Math.min(listPx * bubbleWidthShare, bubbleMaxPx) - bubbleSidesPx);
  const insidePx = Math.min((listPx - 2 * listEdgePx) * bubbleWidthShare, bubbleMaxPx);
  switch (body.type) {
    case "text":
      return estimateTextHeight(body.text, textPx, isOpen) + textPaddingPx;
    case "image": {
      const { widthPx, ratio } = toImageBox(body.width, body.height);
      const roomPx = Math.min(widthPx, insidePx - 2 * imagePaddingPx);
      const caption = body.text ? estimateTextHeight(body.text, roomPx - 16, isOpen) + imageCaptionPaddingPx : 0;
      return roomPx / ratio + 2 * imagePaddingPx + caption;
    }
    case "file": {
      const roomPx = Math.min(cardWidthPx, insidePx) - bubbleSidesPx;
      const isLong = body.name.length * charWidthPx > roomPx - fileIconPx;
      return (
        cardHeightPx +
        (isLong ? secondNameLinePx : 0) +
        (body.text ? estimateTextHeight(body.text, roomPx, isOpen) + fileCaptionGapPx : 0)
      );
    }
    case "voice":
      return cardHeightPx;
    case "call":
      return estimateCallHeight(body, mine, textPx);
    case "event":
      return Math.ceil((eventTextChars * charWidthPx) / textPx) * eventLineHeightPx + eventPaddingPx;
    default: {
      const letters = body.type === "deleted" ? deletedTextChars : unreadableTextChars;
      return estimateTextHeight("n".repeat(letters), textPx, true) + textPaddingPx;
    }
  }
};

/**
 * About how high a message will be in a list this wide: the better it is, the less moves when it is drawn. A long
 * text counts as it stands folded unless `isOpen`.
 */
export const estimateMessageHeight = (
  item: ChatItem,
  { endsDay, endsRun, hasAvatarColumn, hasSenderName }: MessagePlacement,
  listPx: number,
  isOpen = false,
): number => {
  const { body } = item;
  const forwarded = "forwarded" in body && body.forwarded ? forwardedLabelPx : 0;
  const content = estimateBodyHeight(item, listPx - (hasAvatarColumn ? avatarColumnPx : 0), isOpen);
  // Whole pixels, as the list measures.
  return Math.round(
    content + forwarded + (hasSenderName ? senderNamePx : 0) + (endsRun ? 8 : 2) + (endsDay ? dayHeadingPx : 0),
  );
};
