-- Without member_count, Roadbook counts the users with this company_id, private ones as well.
SELECT id, name FROM companies
