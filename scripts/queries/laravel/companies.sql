SELECT id, name FROM companies WHERE deleted_at IS NULL
