-- A polymorphic pivot: other models have roles, too. LIKE avoids the backslashes of
-- App\Models\User, which MySQL and PostgreSQL write differently.
SELECT p.model_id AS user_id, p.role_id
  FROM model_has_roles p
  JOIN users u ON u.id = p.model_id
 WHERE p.model_type LIKE '%Models_User'
