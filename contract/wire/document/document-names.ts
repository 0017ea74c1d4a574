// Separate from the schema of the data, which entry pages do not need.

/** Id of the script element with the data that the Worker embeds in the app's document. */
export const documentDataId = "first-data";
/** Id of the element with the content that is drawn before the app has loaded. */
export const firstViewId = "first-view";
/** Cookie with the time zone of the device, so that the Worker writes times as its clock shows them. */
export const timeZoneCookie = "tz";
