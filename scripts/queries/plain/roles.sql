-- A role with a higher hierarchy outranks the others.
SELECT id, name, hierarchy FROM roles
