/**
 * Makes a Debian package from an executable, its manual page and scripts/deploy. Installing the
 * package starts nothing, because there is no snapshot to serve yet.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { author, description, version } from "../../package.json" with { type: "json" };
import { completionScripts } from "../../src/commands/completion.ts";
import { formatManPage } from "./man.ts";
import { formatLicences, listExecutableParts } from "./parts.ts";
import { owner, webAddress } from "./version.ts";

const root = join(import.meta.dir, "../..");
const { values } = parseArgs({
  options: {
    executable: { type: "string", default: join(root, "dist/roadbook-linux-x64") },
    /** The processor architecture: amd64 or arm64. */
    architecture: { type: "string", default: "amd64" },
    /** As for dpkg-deb -Z. */
    compression: { type: "string", default: "zstd" },
    /** The folder for the package. */
    to: { type: "string", default: join(root, "dist") },
  },
});
mkdirSync(values.to, { recursive: true });
// All files get the executable's modification time, so that the same executable always gives the
// same package.
const seconds = Number(
  process.env.SOURCE_DATE_EPOCH ?? Math.floor(statSync(values.executable).mtimeMs / 1000),
);
// For dpkg, 0.2.0~dev comes before 0.2.0.
const debVersion = version.replace("-", "~");
const maintainer = `${author} <${owner}@users.noreply.github.com>`;
const folder = mkdtempSync(join(resolve(values.to), ".deb-"));
try {
  const deb = join(resolve(values.to), `roadbook_${debVersion}_${values.architecture}.deb`);
  await fillFolder();
  const command = ["dpkg-deb", "--root-owner-group", `-Z${values.compression}`, "--build"];
  const { success } = Bun.spawnSync([...command, folder, deb], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (!success) throw new Error("dpkg-deb failed to build the package");
  process.stdout.write(`built ${deb}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function fillFolder(): Promise<void> {
  // The files must be readable by all users, whatever the umask of the user who builds the package.
  process.umask(0o022);
  chmodSync(folder, 0o755);
  for (const [path, content] of Object.entries(await listFiles())) {
    await Bun.write(join(folder, path), content);
  }
  const programs = ["usr/bin/roadbook", "usr/libexec/roadbook-health.sh"];
  for (const path of [...programs, "DEBIAN/postinst", "DEBIAN/prerm", "DEBIAN/postrm"]) {
    chmodSync(join(folder, path), 0o755);
  }
}

async function listFiles(): Promise<Record<string, string | Uint8Array>> {
  const read = (path: string) => readFileSync(join(root, path));
  const unit = (name: string) =>
    read(`scripts/deploy/${name}`)
      .toString()
      .replace(
        "ExecStart=/usr/local/bin/roadbook-health.sh",
        "ExecStart=/usr/libexec/roadbook-health.sh",
      )
      .replace("ExecStart=/usr/local/bin/", "ExecStart=/usr/bin/");
  const date = new Date(seconds * 1000);
  const manPage = await formatManPage(date);
  const units = ["roadbook.service", "roadbook@.service"].concat(
    ["health", "import"].flatMap((name) => [`roadbook-${name}.service`, `roadbook-${name}.timer`]),
  );
  const documents = "usr/share/doc/roadbook";
  return {
    "usr/bin/roadbook": readFileSync(values.executable),
    "usr/libexec/roadbook-health.sh": read("scripts/deploy/roadbook-health.sh"),
    ...Object.fromEntries(units.map((name) => [`usr/lib/systemd/system/${name}`, unit(name)])),
    "etc/roadbook.conf":
      "# Settings of the server, one ROADBOOK_… variable per line. See roadbook serve --help.\n",
    "usr/share/bash-completion/completions/roadbook": completionScripts.bash,
    "usr/share/zsh/vendor-completions/_roadbook": completionScripts.zsh,
    "usr/share/fish/vendor_completions.d/roadbook.fish": completionScripts.fish,
    "usr/share/man/man1/roadbook.1.gz": gzipSync(manPage, { level: 9 }),
    ...Object.fromEntries(
      ["README", "spreadsheets", "database", "takedown", "machines", "kiosk"].map((page) => [
        `${documents}/${page}.md`,
        read(`scripts/deploy/${page}.md`),
      ]),
    ),
    [`${documents}/CHANGELOG.md`]: read("CHANGELOG.md"),
    [`${documents}/changelog.gz`]: gzipSync(
      `roadbook (${debVersion}) stable; urgency=medium

  * CHANGELOG.md lists the changes.

 -- ${maintainer}  ${date.toUTCString().replace("GMT", "+0000")}
`,
      { level: 9 },
    ),
    [`${documents}/copyright`]: `${read("LICENSE")}
The licences of Bun, of the libraries that it links, and of all other parts are in licences.gz.
Debian has the full texts of common licences in /usr/share/common-licenses.
`,
    [`${documents}/licences.gz`]: gzipSync(formatLicences(await listExecutableParts()), {
      level: 9,
    }),
    // Bun keeps the program behind its own code, so the executable cannot be stripped, and Bun
    // links its libraries statically. Only the timer runs the health check.
    "usr/share/lintian/overrides/roadbook": `roadbook: embedded-library
roadbook: unstripped-binary-or-object
roadbook: hardening-no-pie
roadbook: hardening-no-relro
roadbook: no-manual-page *roadbook-health.sh*
`,
    "DEBIAN/control": `Package: roadbook
Version: ${debVersion}
Architecture: ${values.architecture}
Maintainer: ${maintainer}
Homepage: ${webAddress}
Installed-Size: ${Math.ceil(statSync(values.executable).size / 1024)}
Depends: libc6 (>= 2.17)
Suggests: caddy
Section: net
Priority: optional
Description: ${description.replace(/^A |,.*$/g, "")}
 Roadbook serves a snapshot, a file that "roadbook import" makes from a dataset.
 .
 Installation starts no service. Import a dataset to
 /var/lib/roadbook.snapshot, then enable roadbook and roadbook-health.timer.
`,
    "DEBIAN/conffiles": "/etc/roadbook.conf\n",
    "DEBIAN/postinst": read("scripts/release/debian/postinst"),
    "DEBIAN/prerm": read("scripts/release/debian/prerm"),
    "DEBIAN/postrm": read("scripts/release/debian/postrm"),
  };
}
