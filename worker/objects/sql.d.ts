/** SQL migrations of the objects, imported as text. */
declare module "*.sql?raw" {
  const sql: string;
  export default sql;
}
