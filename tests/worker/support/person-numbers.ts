// Numbers for all helpers that make new people, so that no two helpers choose the same one. Numbers that tests name
// themselves are lower, up to 3,500.
let last = 3_500;

/** Returns the next unused person number. */
export const takePersonNumber = (): number => {
  // A longer number would not be a valid phone number.
  if (last === 9_999) throw new Error("there are no numbers left for people of tests");
  last += 1;
  return last;
};
