/** Oldest and middle message of a seeded log, each with a unique text. */
export const oldestText = "Maloba ya liboso, tango tokutanaki";
export const middleText = "Maloba ya katikati, na ndako ya Mado";
/** Text of every other message, ending with its seq. */
export const seededText = (seq: number): string => `Mbote, oza malamu? Nazali na nzela, nakokoma sima ya ngonga ${seq}`;

/** SQL that fills an empty log with `count` messages, a minute apart, alternating senders, all read by both. */
export const seedLogSql = (count: number): string => `
  WITH RECURSIVE place(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM place WHERE seq < ${count})
  INSERT INTO messages (seq, sender, cid, at, kind, body)
  SELECT seq, seq % 2, printf('00000000-0000-7000-8000-%012x', seq), 1700000000000 + seq * 60000, 'text',
         CASE seq WHEN 1 THEN '${oldestText}' WHEN ${Math.floor(count / 2)} THEN '${middleText}'
                  ELSE '${seededText(0).slice(0, -1)}' || seq END
  FROM place;
  UPDATE members SET delivered = ${count}, read = ${count}`;
