const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

type SourceMap = { sources: (string | null)[]; mappings: string };

/** Decodes one segment of a source map (base64 variable-length quantities). */
function readSegment(segment: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const letter of segment) {
    const digit = base64.indexOf(letter);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}

/** Number of characters of a built file per source; generated code is counted as "(glue)". */
export function countCharactersBySource(code: string, map: SourceMap): Map<string, number> {
  const shares = new Map<string, number>();
  const add = (source: string, count: number) => shares.set(source, (shares.get(source) ?? 0) + count);
  const lines = code.split("\n");
  let source = 0;
  for (const [number, line] of map.mappings.split(";").entries()) {
    const length = (lines[number]?.length ?? 0) + 1;
    let column = 0;
    let from = 0;
    let owner = "(glue)";
    for (const segment of line === "" ? [] : line.split(",")) {
      const [columns = 0, sources] = readSegment(segment);
      column += columns;
      add(owner, column - from);
      from = column;
      if (sources !== undefined) source += sources;
      owner = sources === undefined ? "(glue)" : (map.sources[source] ?? "(glue)");
    }
    add(owner, length - from);
  }
  return shares;
}

/** Package of a source, or its folder in the project. */
export function getPackage(source: string): string {
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source.slice(source.lastIndexOf("node_modules/")));
  if (inPackage?.[1]) return inPackage[1];
  const own = /(?:^|\/)(src\/features\/[^/]+|src\/[^/]+|contract)\//.exec(source);
  return own?.[1] ?? source.replace(/^.*\//, "");
}
