/** Runs nginx with the site from scripts/deploy, in a temporary folder. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, temporaryFolder, until } from "../support.ts";

const nginx = Bun.which("nginx", { PATH: `${process.env.PATH}:/usr/sbin` });
export const hasNginx = nginx !== null;
if (!hasNginx) console.warn("nginx is missing: skipping its tests");

/** Listens on `port` of 127.0.0.1, as the site says after `change`. */
export async function openNginx(port: number, change: (site: string) => string) {
  const folder = temporaryFolder();
  const site = change(readFileSync(join(root, "scripts/deploy/nginx.conf"), "utf8"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const log = `error_log ${folder}/error.log; pid ${folder}/pid; daemon off;`;
  writeFileSync(
    join(folder, "nginx.conf"),
    `${user} ${log} events {} http { access_log off; ${temporary.join(" ")}\n${site}\n}`,
  );
  const words = ["-e", `${folder}/error.log`, "-c", `${folder}/nginx.conf`];
  const child = Bun.spawn([nginx ?? "nginx", ...words], { stdout: "ignore", stderr: "ignore" });
  const origin = `http://127.0.0.1:${port}`;
  await until(() => {
    if (child.exitCode !== null) throw new Error(readFileSync(`${folder}/error.log`, "utf8"));
    return fetch(`${origin}/health`).catch(() => undefined);
  });
  return {
    origin,
    async close() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}
