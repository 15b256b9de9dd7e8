-- Trophies. XenForo keeps their texts as phrases; language 0 has the originals.
SELECT t.trophy_id AS id,
       COALESCE(n.phrase_text, CONCAT('Trophy ', t.trophy_id)) AS name,
       COALESCE(d.phrase_text, '') AS description,
       '' AS icon, 'trophy' AS kind, 1 AS tier, t.trophy_points AS points
  FROM xf_trophy t
  LEFT JOIN xf_phrase n ON n.language_id = 0 AND n.title = CONCAT('trophy_title.', t.trophy_id)
  LEFT JOIN xf_phrase d
    ON d.language_id = 0 AND d.title = CONCAT('trophy_description.', t.trophy_id)
