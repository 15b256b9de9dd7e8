#!/usr/bin/env bash
# buildah and podman drop a Containerfile's HEALTHCHECK unless the image is built with `--format docker`:
# their default format, OCI, has no place for it. They say so in a warning, and succeed.
# buildah 1.28.2 of Debian 12, which podman uses; `man buildah-build` (`--format`).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages buildah

storage=(--root "$work/root" --runroot "$work/run" --storage-driver vfs)
echo 'a program' >program
printf '%s\n' 'FROM scratch' 'COPY program /' 'HEALTHCHECK CMD ["/program"]' >Containerfile
build() {
  local format
  for format in oci docker; do
    buildah "${storage[@]}" bud --isolation chroot --format $format --tag $format . >build.log 2>&1
    buildah "${storage[@]}" inspect --type image $format >inspected
    echo "$format: $(grep -c level=warning build.log) warning(s)"
    grep --quiet '"Healthcheck": {' inspected && echo '  has the health check' || echo '  has none'
  done
}
expect build <<'SEEN'
buildah 1.28.2+ds1
oci: 1 warning(s)
  has none
docker: 0 warning(s)
  has the health check
SEEN
