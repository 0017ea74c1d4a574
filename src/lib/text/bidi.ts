const controlCharacters = /[\u202a-\u202e\u2066-\u2069]/;
const rightToLeftCharacters = /[\u0590-\u08ff\u200e\u200f\ufb1d-\ufdff\ufe70-\ufefc]/;

const popEmbedding = "\u202c";
const popIsolate = "\u2069";
const isEmbedding = (char: string): boolean => char >= "\u202a" && char <= "\u202e" && char !== popEmbedding;
const isIsolate = (char: string): boolean => char >= "\u2066" && char < popIsolate;

const balanceLine = (line: string): string => {
  const open: string[] = []; // what closes each, innermost last
  let isolates = 0; // of them
  let balanced = "";
  for (const char of line) {
    if (isEmbedding(char)) open.push(popEmbedding);
    else if (isIsolate(char)) {
      open.push(popIsolate);
      isolates++;
    } else if (char === popEmbedding) {
      if (open.at(-1) !== popEmbedding) continue;
      open.pop();
    } else if (char === popIsolate) {
      if (isolates === 0) continue;
      while (open.pop() !== popIsolate); // what began within an isolate ends with it
      isolates--;
    }
    balanced += char;
  }
  return balanced + open.reverse().join("");
};

/**
 * Somebody's words with marks of direction that end what they begin and nothing else (Unicode UAX 9): one that ends
 * more would get out of the element that isolates the words, and reorder what stands around it.
 */
export const balanceBidi = (text: string): string =>
  controlCharacters.test(text) ? text.split("\n").map(balanceLine).join("\n") : text;

/** A name inside a sentence of ours: one of another direction is kept from reordering what stands around it. */
export const isolateBidi = (name: string): string =>
  rightToLeftCharacters.test(name) || controlCharacters.test(name) ? `\u2068${balanceBidi(name)}\u2069` : name;
