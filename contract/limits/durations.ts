/** Units of time in milliseconds. Plain numbers, which the build inserts where they are used. */
export const secondMs = 1_000;
export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 86_400_000;
