#!/usr/bin/env bash
# The copy that `.backup` makes of a database with a write-ahead log needs one, too, so a program without
# the right to create files beside it cannot read it. That of `VACUUM INTO` does not.
# sqlite3 3.40.1 of Debian 12; https://sqlite.org/wal.html#read_only_databases.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages sqlite3

sqlite3 site.db 'PRAGMA journal_mode = WAL; CREATE TABLE member (name)' >output
sqlite3 site.db '.backup backup.db' "VACUUM INTO 'vacuumed.db'"
show() {
  local copy
  for copy in backup.db vacuumed.db; do
    echo "$copy: $(sqlite3 $copy 'PRAGMA journal_mode')"
  done
}

expect show <<'SEEN'
sqlite3 3.40.1
backup.db: wal
vacuumed.db: delete
SEEN
