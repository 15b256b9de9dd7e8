#!/usr/bin/env bash
# Caddy sends a GET again, although the server may have handled it, if the connection is lost before the
# response and had been used before: Go does so, whatever Caddy's settings say. `keepalive off` prevents
# that. With `lb_try_duration`, Caddy itself does, over any connection.
# Caddy 2.6.2 of Debian 12; https://pkg.go.dev/net/http#Transport.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages caddy curl
export XDG_DATA_HOME=$work XDG_CONFIG_HOME=$work

# Responds to all requests but the first one for each path that begins with /lost.
cat >server.cjs <<'PROGRAM'
const counts = {};
const server = require("node:http").createServer(({ url, socket }, response) => {
  counts[url] = (counts[url] ?? 0) + 1;
  if (url.startsWith("/lost") && counts[url] === 1) socket.destroy();
  else response.end(`a response to request ${counts[url]}\n`);
});
server.listen(process.argv[2], "127.0.0.1");
PROGRAM
server=$(free_port)
node server.cjs "$server" &
wait_for "$server"

port=$(free_port)
cat >Caddyfile <<CONF
{
  admin off
}
http://127.0.0.1:$port {
  reverse_proxy /*/default 127.0.0.1:$server
  reverse_proxy /*/off 127.0.0.1:$server {
    transport http {
      keepalive off
    }
  }
  reverse_proxy /*/try 127.0.0.1:$server {
    lb_try_duration 5s
    transport http {
      keepalive off
    }
  }
}
CONF
caddy run --config Caddyfile --adapter caddyfile 2>caddy.log &
wait_for "$port"

ask() {
  local name
  for name in default off try; do
    curl -s "http://127.0.0.1:$port/found/$name" >found
    echo "$name: $(curl -s --fail "http://127.0.0.1:$port/lost/$name" || echo 502)"
  done
}
expect ask <<'SEEN'
caddy 2.6.2
curl 7.88.1
default: a response to request 2
off: 502
try: a response to request 2
SEEN
