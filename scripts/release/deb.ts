/**
 * Makes a Debian package of an executable: the command, its manual page and completions, the units
 * and the health check of scripts/deploy. It starts nothing when it is installed, as there is no snapshot to serve then.
 * `bun scripts/release/deb.ts [--executable FILE] [--architecture amd64] [--to FOLDER]`.
 */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { description, version } from "../../package.json" with { type: "json" };
import { scripts } from "../../src/commands/completion.ts";
import { formatManPage } from "./man.ts";

const root = join(import.meta.dir, "../..");
const { values } = parseArgs({
  options: {
    executable: { type: "string", default: join(root, "dist/roadbook-linux-x64") },
    architecture: { type: "string", default: "amd64" },
    compression: { type: "string", default: "zstd" },
    to: { type: "string", default: join(root, "dist") },
  },
});
mkdirSync(values.to, { recursive: true });
// The files get the time of the executable, so that the same one gives the same package.
const seconds = Number(
  process.env.SOURCE_DATE_EPOCH ?? Math.floor(statSync(values.executable).mtimeMs / 1000),
);
const folder = mkdtempSync(join(resolve(values.to), ".deb-"));
try {
  const deb = join(resolve(values.to), `roadbook_${version}_${values.architecture}.deb`);
  fillFolder();
  const command = ["dpkg-deb", "--root-owner-group", `-Z${values.compression}`, "--build"];
  const { success } = Bun.spawnSync([...command, folder, deb], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (!success) throw new Error("dpkg-deb cannot build the package");
  process.stdout.write(`built ${deb}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function fillFolder(): void {
  chmodSync(folder, 0o755);
  const deploy = (name: string) => readFileSync(join(root, "scripts/deploy", name), "utf8");
  copy(values.executable, "usr/bin/roadbook", 0o755);
  write("usr/libexec/roadbook-health.sh", deploy("roadbook-health.sh"), 0o755);
  for (const unit of [
    "roadbook.service",
    "roadbook@.service",
    "roadbook-health.service",
    "roadbook-health.timer",
  ]) {
    const text = deploy(unit)
      .replace(
        "ExecStart=/usr/local/bin/roadbook-health.sh",
        "ExecStart=/usr/libexec/roadbook-health.sh",
      )
      .replace("ExecStart=/usr/local/bin/", "ExecStart=/usr/bin/");
    write(`usr/lib/systemd/system/${unit}`, text);
  }
  write(
    "etc/roadbook.conf",
    "# Settings of the server, one ROADBOOK_… a line; see roadbook serve --help.\n",
  );
  const page = gzipSync(formatManPage(new Date(seconds * 1000)), { level: 9 });
  write("usr/share/man/man1/roadbook.1.gz", page);
  write("usr/share/bash-completion/completions/roadbook", scripts.bash);
  write("usr/share/zsh/vendor-completions/_roadbook", scripts.zsh);
  write("usr/share/fish/vendor_completions.d/roadbook.fish", scripts.fish);
  copy(join(root, "scripts/deploy/README.md"), "usr/share/doc/roadbook/README.md");
  copy(join(root, "CHANGELOG.md"), "usr/share/doc/roadbook/CHANGELOG.md");
  copy(join(root, "LICENSE"), "usr/share/doc/roadbook/copyright");

  const kilobytes = Math.ceil(statSync(values.executable).size / 1024);
  write(
    "DEBIAN/control",
    `Package: roadbook
Version: ${version}
Architecture: ${values.architecture}
Maintainer: Roadbook <roadbook@localhost>
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.17)
Suggests: caddy
Section: net
Priority: optional
Description: ${description.charAt(0).toLowerCase()}${description.slice(1)}
 It serves a snapshot, one file that is made of a dataset by roadbook import.
 .
 Nothing is started when it is installed. Import a dataset to
 /var/lib/roadbook.snapshot, then enable roadbook and roadbook-health.timer.
`,
  );
  write("DEBIAN/conffiles", "/etc/roadbook.conf\n");
  write("DEBIAN/postinst", `#!/bin/sh\nset -e\n${ifSystemd("systemctl daemon-reload")}`, 0o755);
  const stop = [
    "systemctl disable roadbook-health.timer roadbook.service roadbook@.service",
    "systemctl stop roadbook-health.timer roadbook.service 'roadbook@*.service'",
  ].join("\n  ");
  write(
    "DEBIAN/prerm",
    `#!/bin/sh\nset -e\n[ "$1" = remove ] || exit 0\n${ifSystemd(stop)}`,
    0o755,
  );
  write("DEBIAN/postrm", `#!/bin/sh\nset -e\n${ifSystemd("systemctl daemon-reload")}`, 0o755);
}

/** Not in a folder that stands for another machine's root, nor in a container. */
function ifSystemd(command: string): string {
  return `if [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then\n  ${command}\nfi\n`;
}

function write(path: string, text: string | Uint8Array, mode = 0o644): void {
  makeFolders(path);
  writeFileSync(join(folder, path), text);
  chmodSync(join(folder, path), mode);
}

function copy(from: string, path: string, mode = 0o644): void {
  makeFolders(path);
  copyFileSync(from, join(folder, path));
  chmodSync(join(folder, path), mode);
}

/** Readable by all, whatever the umask is. */
function makeFolders(path: string): void {
  for (let parent = dirname(path); parent !== "."; parent = dirname(parent)) {
    mkdirSync(join(folder, parent), { recursive: true });
    chmodSync(join(folder, parent), 0o755);
  }
}
