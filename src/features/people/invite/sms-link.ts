/**
 * Address that opens the messages app with a text, for one recipient or none. "?&": iOS reads what follows "&", Android
 * what follows "?".
 */
export const toSmsLink = (message: string, phone = ""): string =>
  `sms:${phone.replace(/[^+\d]/g, "")}?&body=${encodeURIComponent(message)}`;
