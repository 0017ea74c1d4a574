import type { AppContext } from "#worker/lib/http/app.ts";

// In this order: a browser names those whose pages it wants to be served, too.
const browsers: readonly [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, "Edge"],
  [/\bOPR\/|\bOpera\b|\bOPiOS\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bUCBrowser\//, "UC Browser"],
  [/\bHuaweiBrowser\//, "Huawei Browser"],
  [/\bPHX\//, "Phoenix"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\b(Headless)?Chrome\/|\bCriOS\//, "Chrome"],
  [/\bAndroid\b.*\bVersion\/[\d.]+.*\bSafari\//, "Android Browser"],
  [/\bVersion\/[\d.]+.*\bSafari\//, "Safari"],
];
const systems: readonly [RegExp, string][] = [
  [/\bAndroid\b/, "Android"],
  [/\bKAIOS\b/i, "KaiOS"],
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

const userAgentMaxLength = 512; // no browser needs as much, and the patterns take long over nonsense

const findMatchingName = (list: readonly [RegExp, string][], text: string): string | undefined =>
  list.find(([pattern]) => pattern.test(text))?.[1];

/** What a browser calls itself and its system, as a person would say it; empty where it says neither. */
export const describeDevice = (userAgent: string): string => {
  const text = userAgent.slice(0, userAgentMaxLength);
  return [findMatchingName(browsers, text), findMatchingName(systems, text)]
    .filter((name) => name !== undefined)
    .join(" · ");
};

export const readDeviceName = (c: AppContext): string => describeDevice(c.req.header("user-agent") ?? "");
