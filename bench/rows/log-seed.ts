/** The oldest message of a seeded log, and the one in its middle: each says what no other does. */
export const oldestText = "Maloba ya liboso, tango tokutanaki";
export const middleText = "Maloba ya katikati, na ndako ya Mado";
/** Every other one, with its place at the end. */
export const seededText = (seq: number): string => `Mbote, oza malamu? Nazali na nzela, nakokoma sima ya ngonga ${seq}`;

/** Fills an empty log with `count` messages of a long friendship, a minute apart and by turns, all of which both have read. */
export const seedLogSql = (count: number): string => `
  WITH RECURSIVE place(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM place WHERE seq < ${count})
  INSERT INTO messages (seq, sender, cid, at, kind, body)
  SELECT seq, seq % 2, printf('00000000-0000-7000-8000-%012x', seq), 1700000000000 + seq * 60000, 'text',
         CASE seq WHEN 1 THEN '${oldestText}' WHEN ${Math.floor(count / 2)} THEN '${middleText}'
                  ELSE '${seededText(0).slice(0, -1)}' || seq END
  FROM place;
  UPDATE members SET delivered = ${count}, read = ${count}`;
