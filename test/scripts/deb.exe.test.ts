/**
 * Installs the Debian package under a temporary root folder, starts its server and purges the
 * package. Also tests the manual page.
 */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { formatManPage } from "../../scripts/release/man.ts";
import { commands } from "../../src/commands/commands.ts";
import { version } from "../../src/domain/version.ts";
import { isFlag, termOf, variableOf } from "../../src/settings/declare.ts";
import {
  executable,
  fixture,
  roadbook,
  root,
  run,
  spawnServer,
  temporaryFolder,
  tryProgram,
} from "../support.ts";

/** Packages a script that runs the executable, which would take seconds to copy. */
async function buildDeb(program: string): Promise<string> {
  const folder = temporaryFolder();
  const flags = ["--executable", program, "--compression", "none", "--to", folder];
  const built = await run([process.execPath, "scripts/release/deb.ts", ...flags], { cwd: root });
  expect([built.code, built.stderr]).toEqual([0, ""]);
  const name = `roadbook_${version.replace("-", "~")}_amd64.deb`;
  expect(readdirSync(folder)).toEqual([name]);
  return join(folder, name);
}

/** Returns the files in a root folder, without dpkg's own records. */
function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .filter((path) => !path.startsWith("/var/lib/dpkg/") && !path.startsWith("/var/log/"))
    .sort();
}

test.if(tryProgram("dpkg-deb"))(
  "the package has the same bytes each time, can be installed and run, and leaves only data behind when purged",
  async () => {
    const script = join(temporaryFolder(), "roadbook");
    writeFileSync(script, `#!/bin/sh\nexec ${await executable()} "$@"\n`);
    const [deb, again] = await Promise.all([buildDeb(script), buildDeb(script)]);
    expect(readFileSync(deb).equals(readFileSync(again))).toBe(true);
    const machine = temporaryFolder();
    for (const name of ["info", "updates"])
      mkdirSync(join(machine, "var/lib/dpkg", name), { recursive: true });
    writeFileSync(join(machine, "var/lib/dpkg/status"), "");
    // The root folder contains no dependencies, and most users have no sbin folders in their PATH.
    const force = "--force-not-root,script-chrootless,depends,bad-path";
    const dpkg = async (...args: string[]) =>
      expect(await run(["dpkg", `--root=${machine}`, force, ...args])).toMatchObject({ code: 0 });

    await dpkg("--install", deb);
    expect(listFiles(machine)).toEqual([
      "/etc/roadbook.conf",
      "/usr/bin/roadbook",
      "/usr/lib/systemd/system/roadbook-health.service",
      "/usr/lib/systemd/system/roadbook-health.timer",
      "/usr/lib/systemd/system/roadbook-import.service",
      "/usr/lib/systemd/system/roadbook-import.timer",
      "/usr/lib/systemd/system/roadbook.service",
      "/usr/lib/systemd/system/roadbook@.service",
      "/usr/libexec/roadbook-health.sh",
      "/usr/share/bash-completion/completions/roadbook",
      "/usr/share/doc/roadbook/CHANGELOG.md",
      "/usr/share/doc/roadbook/README.md",
      "/usr/share/doc/roadbook/changelog.gz",
      "/usr/share/doc/roadbook/copyright",
      "/usr/share/doc/roadbook/database.md",
      "/usr/share/doc/roadbook/kiosk.md",
      "/usr/share/doc/roadbook/licences.gz",
      "/usr/share/doc/roadbook/machines.md",
      "/usr/share/fish/vendor_completions.d/roadbook.fish",
      "/usr/share/lintian/overrides/roadbook",
      "/usr/share/man/man1/roadbook.1.gz",
      "/usr/share/zsh/vendor-completions/_roadbook",
    ]);
    const licences = readFileSync(join(machine, "usr/share/doc/roadbook/licences.gz"));
    expect(gunzipSync(licences).toString()).toBe((await roadbook(["licences"])).stdout);
    const page = readFileSync(join(machine, "usr/share/man/man1/roadbook.1.gz"));
    expect(gunzipSync(page).toString()).toStartWith(".TH ROADBOOK 1 ");
    const readUnit = (name: string) =>
      readFileSync(join(machine, "usr/lib/systemd/system", `${name}.service`), "utf8");
    for (const name of ["roadbook", "roadbook-health", "roadbook-import"]) {
      const [, program = ""] = /^ExecStart=(\S+)/m.exec(readUnit(name)) ?? [];
      expect(statSync(join(machine, program)).mode & 0o777).toBe(0o755);
    }

    const setting = /^Environment=ROADBOOK_SNAPSHOT=(.*)$/m.exec(readUnit("roadbook"))?.[1] ?? "";
    const program = join(machine, "usr/bin/roadbook");
    const snapshot = join(machine, setting);
    const imported = await run([program, "import", fixture, "--to", snapshot]);
    expect(imported).toMatchObject({ code: 0 });
    const env = { ROADBOOK_SNAPSHOT: snapshot };
    const { origin, close } = await spawnServer([program, "--port", "0"], { env });
    expect(await (await fetch(`${origin}/users/public/42`)).text()).toContain("Łukasz Nowak");
    expect(await close()).toBe(0);

    await dpkg("--remove", "roadbook");
    expect(existsSync(join(machine, "etc/roadbook.conf"))).toBe(true);
    await dpkg("--purge", "roadbook");
    // The snapshot and its lock file belong to the operator, so they are not removed.
    const lock = join(dirname(setting), `.${basename(setting)}.lock`);
    expect(listFiles(machine)).toEqual([lock, setting]);
  },
);

const manPage = formatManPage(new Date(0));

test("the manual page lists every command, flag and variable", () => {
  for (const [name, { settings }] of Object.entries(commands)) {
    expect(manPage).toContain(`.SS "roadbook ${name}`);
    for (const setting of Object.values(settings).filter(isFlag)) {
      expect(manPage).toContain(termOf(setting).replaceAll("-", "\\-"));
      expect(manPage).toContain(`.B ${variableOf(setting)}\n`);
    }
  }
});

test.if(tryProgram("mandoc"))("mandoc finds no problems in the manual page", async () => {
  const file = join(temporaryFolder(), "roadbook.1");
  writeFileSync(file, manPage);
  const outcome = await run(["mandoc", "-T", "lint", "-W", "warning", file]);
  expect(outcome).toMatchObject({ code: 0, stdout: "", stderr: "" });
});
