import { toTextScale } from "#components/messages/large-emoji.ts";
import type { CallBody } from "#contract/calls/call.ts";
import { findReplyTarget, getEditNumber } from "#contract/messages/body.ts";
import { isSameDay } from "#i18n/relative-date.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
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
  quotePx,
  reactionsPx,
  senderNamePx,
  showMoreButtonPx,
  toImageBox,
} from "./bubble-metrics.ts";
import { collapseText } from "./collapse-text.ts";

/** Longest time between two messages of a run. */
export const runGapMs = 5 * 60_000;

/** Fields of a message that decide its placement. */
type PlacedMessage = Pick<ChatItem, "mine" | "at" | "body"> & { sender?: number | undefined };

export type MessagePlacement = {
  /** Newest message of its day; the heading of the next day stands below it. */
  endsDay: boolean;
  /** Last message of a run: messages of one sender close in time. */
  endsRun: boolean;
  /** Leaves room for the avatar of the sender; incoming group messages only. */
  hasAvatarColumn: boolean;
  /** Shows the sender name; first message of a run. */
  hasSenderName: boolean;
};

const isEventItem = ({ body }: Pick<PlacedMessage, "body">): boolean => body.type === "event";

const isSameRun = (a: PlacedMessage, b: PlacedMessage): boolean =>
  !isEventItem(a) &&
  !isEventItem(b) &&
  a.mine === b.mine &&
  (a.mine || a.sender === b.sender) &&
  Math.abs(b.at - a.at) < runGapMs &&
  isSameDay(a.at, b.at);

/**
 * Computes the placement of a message from its neighbours: the newer one below and, in a group, the older one above.
 * Separators belong to the older message, so that loading older messages changes few rendered rows.
 */
export const toMessagePlacement = (
  item: PlacedMessage,
  newer: PlacedMessage | undefined,
  inGroup?: { older: PlacedMessage | undefined },
): MessagePlacement => {
  const hasAvatarColumn = inGroup !== undefined && !item.mine && !isEventItem(item);
  return {
    endsDay: newer !== undefined && !isSameDay(item.at, newer.at),
    endsRun: !newer || !isSameRun(item, newer),
    hasAvatarColumn,
    hasSenderName: hasAvatarColumn && (!inGroup.older || !isSameRun(inGroup.older, item)),
  };
};

const lineHeightPx = 22.4;
const charWidthPx = 8; // estimate on the high side
const textPaddingPx = 16;
const bubbleSidesPx = 2 * 12;
const timestampPx = 72; // time and ticks, on the last line
const editedPx = 48; // note of an edited message before the time
const deletedTextChars = 17; // "Message supprimé"
const unreadableTextChars = 53;
const fileIconPx = 48 + 12;
const secondNameLinePx = 10; // additional height of a two-line file name
const imageCaptionPaddingPx = 10; // around an image caption
const fileCaptionGapPx = 4; // above a file caption
const dayHeadingPx = 42;
const eventTextChars = 44; // "Ana a renommé le groupe en « Famille Mbuyi »."
const eventLineHeightPx = 20;
const callOutcomeChars = 18; // "Appel audio annulé"
const callDetailsPx = 16; // details below the outcome
const declinedByChars = 38; // "Appel audio refusé par Benoît Kabongo"
const eventPaddingPx = 8 + 8; // padding and margin

/** Estimated height of a text at this width; the time, which takes `cornerPx`, shares its last line. */
const estimateTextHeight = (text: string, widthPx: number, isExpanded: boolean, cornerPx = timestampPx): number => {
  const collapsed = isExpanded ? undefined : collapseText(text);
  let lines = 0;
  let lastPx = 0;
  for (const line of (collapsed ?? text).split("\n")) {
    const px = line.length * charWidthPx;
    lines += Math.max(1, Math.ceil(px / widthPx));
    lastPx = px % widthPx;
  }
  if (collapsed === undefined && lastPx + cornerPx > widthPx) lines++;
  return lines * lineHeightPx + (collapsed === undefined ? 0 : showMoreButtonPx);
};

/** Estimated height of a call entry. The outcome is one line, unless it contains a name and wraps. */
const estimateCallHeight = ({ status }: CallBody, isMine: boolean, textPx: number): number => {
  const chars = status === "rejected" && isMine ? declinedByChars : callOutcomeChars;
  const buttonsPx = callIconPx + (status === "missed" ? callVoiceButtonPx : 0);
  const lines = Math.ceil((chars * charWidthPx) / (textPx - buttonsPx));
  return Math.max(callHeightPx, lines * lineHeightPx + callDetailsPx + textPaddingPx);
};

const estimateBodyHeight = ({ body, mine }: ChatItem, listPx: number, isExpanded: boolean): number => {
  const textPx = Math.max(charWidthPx, Math.min(listPx * bubbleWidthShare, bubbleMaxPx) - bubbleSidesPx);
  const bubblePx = Math.min((listPx - 2 * listEdgePx) * bubbleWidthShare, bubbleMaxPx);
  const cornerPx = timestampPx + (getEditNumber(body) > 0 ? editedPx : 0);
  switch (body.type) {
    case "text": {
      const scale = toTextScale(body.text);
      const linesPx = estimateTextHeight(body.text, textPx, isExpanded, cornerPx);
      return (scale === 1 ? linesPx : scale * lineHeightPx) + textPaddingPx;
    }
    case "image": {
      const { widthPx, ratio } = toImageBox(body.width, body.height);
      const contentPx = Math.min(widthPx, bubblePx - 2 * imagePaddingPx);
      const caption = body.text
        ? estimateTextHeight(body.text, contentPx - 16, isExpanded, cornerPx) + imageCaptionPaddingPx
        : 0;
      return contentPx / ratio + 2 * imagePaddingPx + caption;
    }
    case "file": {
      const contentPx = Math.min(cardWidthPx, bubblePx) - bubbleSidesPx;
      const wraps = body.name.length * charWidthPx > contentPx - fileIconPx;
      return (
        cardHeightPx +
        (wraps ? secondNameLinePx : 0) +
        (body.text ? estimateTextHeight(body.text, contentPx, isExpanded, cornerPx) + fileCaptionGapPx : 0)
      );
    }
    case "voice":
      return cardHeightPx;
    case "call":
      return estimateCallHeight(body, mine, textPx);
    case "event":
      return Math.ceil((eventTextChars * charWidthPx) / textPx) * eventLineHeightPx + eventPaddingPx;
    default: {
      body satisfies { type: "deleted" | "withheld" };
      const chars = body.type === "deleted" ? deletedTextChars : unreadableTextChars;
      return estimateTextHeight("n".repeat(chars), textPx, true) + textPaddingPx;
    }
  }
};

/**
 * Estimated height of a message in a list of this width. A better estimate means less movement when the row is
 * measured. A long text counts as collapsed unless `isExpanded`.
 */
export const estimateMessageHeight = (
  item: ChatItem,
  { endsDay, endsRun, hasAvatarColumn, hasSenderName }: MessagePlacement,
  listPx: number,
  isExpanded = false,
): number => {
  const { body } = item;
  const forwarded = "forwarded" in body && body.forwarded ? forwardedLabelPx : 0;
  const quote = item.replyTo === undefined && findReplyTarget(body) === undefined ? 0 : quotePx;
  const content = estimateBodyHeight(item, listPx - (hasAvatarColumn ? avatarColumnPx : 0), isExpanded);
  // Whole pixels, like the measurements of the list.
  return Math.round(
    content +
      forwarded +
      quote +
      (hasSenderName ? senderNamePx : 0) +
      ((item.reactions ?? item.ownReaction) ? reactionsPx : 0) +
      (endsRun ? 8 : 2) +
      (endsDay ? dayHeadingPx : 0),
  );
};
