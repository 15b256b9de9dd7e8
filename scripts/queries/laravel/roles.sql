-- Tables of spatie/laravel-permission. It has no ranks, so older roles outrank newer ones.
SELECT id, name, -id AS hierarchy FROM roles
