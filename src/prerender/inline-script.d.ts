/** Text of a classic script that runs a module with everything that it imports (`scripts/build/inline-scripts.mjs`). */
declare module "*?script" {
  const text: string;
  export default text;
}
