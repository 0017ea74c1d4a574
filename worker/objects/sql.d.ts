/** SQL files of the objects' own tables arrive as text. */
declare module "*.sql?raw" {
  const sql: string;
  export default sql;
}
