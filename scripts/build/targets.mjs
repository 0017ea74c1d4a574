/** Older Android phones whose WebView stopped being updated in 2022, and Safari of the same time. */
export const clientTargets = ["chrome100", "safari15"];
