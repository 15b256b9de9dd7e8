/**
 * The Debian package: dpkg installs it in a root folder of its own, its server is started, it is purged.
 * And its manual page.
 */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { formatManPage } from "../../scripts/release/man.ts";
import { createProgram } from "../../src/commands/command-line.ts";
import { variableOf } from "../../src/commands/environment.ts";
import { version } from "../../src/domain/version.ts";
import { community, executable, readyOrigin, root, run, temporaryFolder } from "../support.ts";

const isRequired = Boolean(process.env.ROADBOOK_REQUIRE_ALL);
const hasDpkg = Bun.which("dpkg-deb") !== null;
if (!hasDpkg) console.warn("dpkg-deb is missing: the Debian package is not tried");

async function buildDeb(): Promise<string> {
  const folder = temporaryFolder();
  const options = ["--executable", await executable(), "--compression", "none", "--to", folder];
  const built = await run([process.execPath, "scripts/release/deb.ts", ...options], { cwd: root });
  expect([built.code, built.stderr]).toEqual([0, ""]);
  expect(readdirSync(folder)).toEqual([`roadbook_${version}_amd64.deb`]);
  return join(folder, `roadbook_${version}_amd64.deb`);
}

/** The files of a folder, without what dpkg notes of its own. */
function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .filter((path) => !path.startsWith("/var/lib/dpkg/") && !path.startsWith("/var/log/"))
    .sort();
}

test.if(hasDpkg || isRequired)(
  "the package is installed, serves, and is purged whole",
  async () => {
    const deb = await buildDeb();
    const vps = temporaryFolder();
    for (const name of ["info", "updates"])
      mkdirSync(join(vps, "var/lib/dpkg", name), { recursive: true });
    writeFileSync(join(vps, "var/lib/dpkg/status"), "");
    // The packages it depends on are not in this root, and the PATH of most users has no sbin.
    const dpkg = (...words: string[]) =>
      run([
        "dpkg",
        `--root=${vps}`,
        "--force-not-root,script-chrootless,depends,bad-path",
        ...words,
      ]);

    expect(await dpkg("--install", deb)).toMatchObject({ code: 0 });
    expect(listFiles(vps)).toEqual([
      "/etc/roadbook.conf",
      "/usr/bin/roadbook",
      "/usr/lib/systemd/system/roadbook-health.service",
      "/usr/lib/systemd/system/roadbook-health.timer",
      "/usr/lib/systemd/system/roadbook.service",
      "/usr/lib/systemd/system/roadbook@.service",
      "/usr/libexec/roadbook-health.sh",
      "/usr/share/doc/roadbook/CHANGELOG.md",
      "/usr/share/doc/roadbook/README.md",
      "/usr/share/doc/roadbook/copyright",
      "/usr/share/man/man1/roadbook.1.gz",
    ]);
    const page = readFileSync(join(vps, "usr/share/man/man1/roadbook.1.gz"));
    expect(gunzipSync(page).toString()).toStartWith(".TH ROADBOOK 1 ");
    const unit = readFileSync(join(vps, "usr/lib/systemd/system/roadbook.service"), "utf8");
    for (const name of ["roadbook.service", "roadbook@.service", "roadbook-health.service"]) {
      const text = readFileSync(join(vps, "usr/lib/systemd/system", name), "utf8");
      const [, program = ""] = /^ExecStart=(\S+)/m.exec(text) ?? [];
      expect(statSync(join(vps, program)).mode & 0o777).toBe(0o755);
    }

    const setting = /^Environment=ROADBOOK_SNAPSHOT=(.*)$/m.exec(unit)?.[1] ?? "";
    const command = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(" ") ?? [];
    const program = join(vps, command[0] ?? "");
    const env = { ROADBOOK_SNAPSHOT: join(vps, setting) };
    expect(await run([program, "import", community, "--to", env.ROADBOOK_SNAPSHOT])).toMatchObject({
      code: 0,
    });
    const server = Bun.spawn([program, ...command.slice(1), "--port", "0"], {
      cwd: vps,
      env,
      stdout: "pipe",
      stderr: "ignore",
    });
    const origin = await readyOrigin(server.stdout);
    expect(await (await fetch(`${origin}/users/public/42`)).text()).toContain("Łukasz Nowak");
    server.kill();
    expect(await server.exited).toBe(0);

    expect(await dpkg("--remove", "roadbook")).toMatchObject({ code: 0 });
    expect(existsSync(join(vps, "etc/roadbook.conf"))).toBe(true);
    expect(await dpkg("--purge", "roadbook")).toMatchObject({ code: 0 });
    // The data is the operator's, with its lock.
    const lock = join(dirname(setting), `.${basename(setting)}.lock`);
    expect(listFiles(vps)).toEqual([lock, setting]);
  },
);

test.if(hasDpkg || isRequired)("the same executable gives the same package", async () => {
  const [one, other] = [await buildDeb(), await buildDeb()];
  expect(readFileSync(one).equals(readFileSync(other))).toBe(true);
});

const manPage = formatManPage(new Date(0));

test("the manual page has each command, flag and variable", () => {
  for (const command of createProgram({}).commands) {
    expect(manPage).toContain(`.SS "roadbook ${command.name()}`);
    for (const option of command.options) {
      const texts = [option.long?.replaceAll("-", "\\-") ?? "", `.B ${variableOf(option)}\n`];
      for (const text of texts) expect(manPage.includes(text)).toBe(!option.hidden);
    }
  }
});

const hasMandoc = Bun.which("mandoc") !== null;
if (!hasMandoc) console.warn("mandoc is missing: the manual page is not read");
test.if(hasMandoc || isRequired)("mandoc reads the manual page without a warning", async () => {
  const file = join(temporaryFolder(), "roadbook.1");
  writeFileSync(file, manPage);
  const outcome = await run(["mandoc", "-T", "lint", "-W", "warning", file]);
  expect(outcome).toMatchObject({ code: 0, stdout: "", stderr: "" });
});
