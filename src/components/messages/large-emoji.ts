// @unocss-include – UnoCSS scans only component files by default.

const joinedPart = String.raw`\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?`;
// Written without the sequence properties of newer browsers, so that the app and the Worker agree.
const emoji = [
  String.raw`\p{Regional_Indicator}{2}`, // flag
  String.raw`[0-9#*]\ufe0f\u20e3`, // keycap
  String.raw`\u{1f3f4}[\u{e0020}-\u{e007e}]+\u{e007f}`, // flag of a region
  // Signs such as © are emoji only with a selector or a skin tone.
  String.raw`(?!\p{Regional_Indicator})(?:\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})|\p{Emoji_Presentation})(?:\u200d${joinedPart})*`,
].join("|");
const fewEmoji = new RegExp(`^(?:${emoji}){1,3}$`, "u");
const oneEmoji = new RegExp(`^(?:${emoji})$`, "u");
const fewEmojiMaxLength = 64; // three families of four with skin tones

/** Font size in multiples of the default size for a text of one to three emoji and nothing else; 1 for other texts. */
export const toTextScale = (text: string): 1 | 2 | 3 =>
  text.length > fewEmojiMaxLength || !fewEmoji.test(text) ? 1 : oneEmoji.test(text) ? 3 : 2;

/** Classes of a text by its scale, shared with the first view. */
export const textScaleClasses = { 1: "", 2: "text-[2rem]", 3: "text-[3rem]" } as const;
