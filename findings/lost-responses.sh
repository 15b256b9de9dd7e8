#!/usr/bin/env bash
# Download programs and Ruby send a GET again if the connection closes before a response, although the
# server may have handled the first one: wget 20 times in all.
# wget 1.21.3, aria2 1.36.0, Ruby 3.1.2 and curl 7.88.1 of Debian 12.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages wget aria2 ruby3.1 curl

cat >server.mjs <<'PROGRAM'
import { createServer } from "node:net";

let requests = 0;
const server = createServer((socket) => {
  socket.on("error", () => {});
  socket.once("data", (data) => {
    const isCount = `${data}`.startsWith("GET /count ");
    if (isCount) socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${requests} request(s)`);
    else socket.end();
    requests = isCount ? 0 : requests + 1;
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
PROGRAM
port=$(free_port)
node server.mjs "$port" &
wait_for "$port"

# Runs a program that asks for a page, and prints how often it asked.
count() {
  "$@" >/dev/null 2>&1 || true
  echo "$1: $(curl --silent "http://127.0.0.1:$port/count")"
}
count_all() {
  local url=http://127.0.0.1:$port/search
  count wget --waitretry=0 "$url"
  count aria2c --dir="$work" "$url"
  count ruby -rnet/http -e "Net::HTTP.get(URI('$url'))"
  count curl "$url"
}
expect count_all <<'SEEN'
wget 1.21.3
aria2 1.36.0
ruby3.1 3.1.7+really3.1.2
curl 7.88.1
wget: 20 request(s)
aria2c: 5 request(s)
ruby: 2 request(s)
curl: 1 request(s)
SEEN
