#!/usr/bin/env bash
# Bun's SQL reports a host name that does not exist as it reports a closed port, so a mistyped name looks
# like a database that is down.
# Bun 1.4.5.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages bun@1.4.5

cat >program.ts <<'PROGRAM'
import { SQL } from "bun";

for (const scheme of ["postgres", "mysql"]) {
  for (const place of ["127.0.0.1:1", "no-such-host.invalid"]) {
    const sql = new SQL(`${scheme}://reader@${place}/platform`);
    const { code, message } = await sql`SELECT 1`.catch((error) => error);
    console.log(place, code, message);
    await sql.close({ timeout: 0 });
  }
}
PROGRAM

expect bun program.ts <<'SEEN'
bun 1.4.5
127.0.0.1:1 ERR_POSTGRES_CONNECTION_REFUSED Failed to connect
no-such-host.invalid ERR_POSTGRES_CONNECTION_REFUSED Failed to connect
127.0.0.1:1 ERR_MYSQL_CONNECTION_REFUSED Failed to connect
no-such-host.invalid ERR_MYSQL_CONNECTION_REFUSED Failed to connect
SEEN
