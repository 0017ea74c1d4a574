/** Dimensions shared by the bubbles and by the height estimates of the list, in CSS pixels. */
export const bubbleMaxPx = 544;
export const bubbleWidthShare = 0.85; // of the list width without its edges
export const listEdgePx = 12;

const imageWidthMaxPx = 320;
const imageWidthMinPx = 200;
const imageHeightMaxPx = 360;
const imageRatioMax = 2;
const imageRatioMin = imageWidthMinPx / imageHeightMaxPx;
export const imagePaddingPx = 4;

/** Preferred width of a card (file or voice message). */
export const cardWidthPx = 272;
export const cardHeightPx = 64;
/** Call entry: a round icon of 40 px beside two lines. */
export const callHeightPx = 56;
export const callIconPx = 40 + 10; // with its gap
export const callVoiceButtonPx = 48; // voice message button of a missed call
export const forwardedLabelPx = 22;
export const quotePx = 8 + 48; // with its margin
export const reactionsPx = 28 - 4; // row of reactions, which overlaps the bubble
export const senderNamePx = 22; // sender of a group message
export const avatarColumnPx = 40; // avatar of the sender
export const showMoreButtonPx = 48;

/** Preferred width and aspect ratio (width / height) of an image in a bubble. */
export const toImageBox = (width: number, height: number): { widthPx: number; ratio: number } => {
  const ratio = Math.min(imageRatioMax, Math.max(imageRatioMin, width / height));
  return { widthPx: Math.round(Math.min(imageWidthMaxPx, Math.max(imageWidthMinPx, imageHeightMaxPx * ratio))), ratio };
};
