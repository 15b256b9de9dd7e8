#!/usr/bin/env bash
# The ETag of a file that nginx serves is its size and the second in which it was written. A new file of
# the same size that was written in the same second has the old ETag, so clients get a 304.
# nginx 1.22.1 of Debian 12; the source is ngx_http_set_etag.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages nginx-light curl

port=$(free_port)
chmod 755 .
mkdir site
cat >nginx.conf <<CONF
daemon off;
pid nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path temporary;
  proxy_temp_path temporary;
  fastcgi_temp_path temporary;
  uwsgi_temp_path temporary;
  scgi_temp_path temporary;
  server { listen 127.0.0.1:$port; root site; }
}
CONF
nginx -p "$work" -c nginx.conf 2>nginx.log &
wait_for "$port"

# Writes a file and renames it over the published one, as one does to replace a snapshot.
publish() {
  echo "$2" >site/new
  touch -d "@1700000000.$1" site/new
  mv site/new site/snapshot
}
ask() {
  curl -s --etag-compare etag --etag-save etag -w '%{http_code}\n' "http://127.0.0.1:$port/snapshot"
}
publish_twice() {
  publish 1 one
  ask
  publish 9 two
  ask
}
expect publish_twice <<'SEEN'
nginx-light 1.22.1
curl 7.88.1
one
200
304
SEEN
