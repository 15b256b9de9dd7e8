#!/usr/bin/env bash
# Apache's mod_deflate adds `-gzip` to the ETag of what it compresses, and does not know that tag when a
# client sends it back. So a compressed response is never a 304.
# Apache 2.4 of Debian 12; https://httpd.apache.org/docs/2.4/mod/mod_deflate.html#deflatealteretag.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages apache2-bin curl

port=$(free_port)
chmod 755 .
mkdir site
head -c 3000 /dev/zero | tr '\0' x >site/text
modules=/usr/lib/apache2/modules
cat >apache.conf <<CONF
ServerName localhost
ServerRoot $work
PidFile pid
Listen 127.0.0.1:$port
ErrorLog log
User nobody
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule filter_module $modules/mod_filter.so
LoadModule deflate_module $modules/mod_deflate.so
DocumentRoot site
SetOutputFilter DEFLATE
CONF
apache2 -f "$work/apache.conf" -DFOREGROUND &
wait_for "$port"

# Asks for the text, and then whether it has changed since.
ask() {
  local url=http://127.0.0.1:$port/text
  curl -s -o body -w "$1: %{http_code}" -H "Accept-Encoding: $1" --etag-save etag "$url"
  curl -s -o body -w ', then %{http_code}\n' -H "Accept-Encoding: $1" --etag-compare etag "$url"
}
ask_both() {
  ask identity
  ask gzip
  grep --only-matching '\-gzip"' etag
}
expect ask_both <<'SEEN'
apache2-bin 2.4.71
curl 7.88.1
identity: 200, then 304
gzip: 200, then 200
-gzip"
SEEN
