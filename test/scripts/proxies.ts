/** Runs real proxies in front of Roadbook, in a temporary folder, as scripts/deploy configures them. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeBlocks, isRequired, root, temporaryFolder, until } from "../support.ts";

const readDeploy = (name: string) => readFileSync(join(root, "scripts/deploy", name), "utf8");

/** Returns the block of a language in the page about proxies. */
const blockOf = (language: string) => codeBlocks(readDeploy("proxies.md"), language)[0] ?? "";

interface Ports {
  /** The proxy's own port on 127.0.0.1. */
  listen: number;
  /** Roadbook's port. */
  upstream: number;
}

interface Proxy {
  program: string;
  /** Writes the configuration into a folder, and returns the command. */
  prepare(folder: string, ports: Ports): string[];
  /** What it does while nothing listens on Roadbook's port. */
  holds: boolean;
}

/** Also finds what Debian installs outside of the usual PATH. */
const find = (program: string) => Bun.which(program, { PATH: `${process.env.PATH}:/usr/sbin` });

/** Says so if the program is missing and its tests are skipped. */
export function hasProxy({ program }: Pick<Proxy, "program">): boolean {
  const isFound = find(program) !== null;
  if (!isFound && !isRequired) console.warn(`skipped: some tests need ${program}`);
  return isFound || isRequired;
}

/** Runs a proxy until it is closed. */
export async function openProxy(proxy: Proxy, ports: Ports) {
  const folder = temporaryFolder();
  // Some give up root's rights before they write here.
  chmodSync(folder, 0o777);
  const [program = "", ...words] = proxy.prepare(folder, ports);
  const output = Bun.file(join(folder, "output"));
  const child = Bun.spawn([find(program) ?? program, ...words], {
    cwd: folder,
    env: { ...process.env, HOME: folder },
    stdout: output,
    stderr: output,
  });
  const origin = `http://localhost:${ports.listen}`;
  await until(() => {
    if (child.exitCode !== null) throw new Error(`${program} ended; see ${folder}`);
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

function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const here = (port: number) => `127.0.0.1:${port}`;

/** Without a certificate. `change` edits the site. */
export function nginxWith(change: (site: string) => string): Proxy {
  return {
    program: "nginx",
    holds: true,
    prepare(folder, { listen, upstream }) {
      const site = readDeploy("nginx.conf")
        .replace(/^.*(?:ssl_|server_name).*\n/gm, "")
        .replace("listen 443 ssl", `listen ${here(listen)}`)
        .replace("127.0.0.1:3000", here(upstream));
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (kind) => `${kind}_temp_path ${folder}/${kind};`,
      );
      const user = process.getuid?.() === 0 ? "user root;" : "";
      const log = `error_log ${folder}/error.log; pid ${folder}/pid; daemon off;`;
      const http = `access_log off; ${temporary.join(" ")}\n${change(site)}`;
      const path = write(folder, "conf", `${user} ${log} events {} http { ${http}\n}`);
      return ["nginx", "-e", `${folder}/error.log`, "-c", path];
    },
  };
}

/** `change` edits the Caddyfile. */
export function caddyWith(change: (caddyfile: string) => string): Proxy {
  return {
    program: "caddy",
    holds: true,
    prepare(folder, { listen, upstream }) {
      const caddyfile = readDeploy("Caddyfile")
        .replace("api.example.org {", `http://localhost:${listen} {\n\tbind 127.0.0.1`)
        .replaceAll("127.0.0.1:3000", here(upstream));
      const options = "{\nadmin off\nauto_https off\n}\n";
      return ["caddy", "run", "--config", write(folder, "Caddyfile", options + change(caddyfile))];
    },
  };
}

const APACHE_MODULES = ["mpm_event", "authz_core", "proxy", "proxy_http", "headers", "filter"];

export const proxies: Record<string, Proxy> = {
  nginx: nginxWith((site) => site),
  Caddy: caddyWith((caddyfile) => caddyfile),
  HAProxy: {
    program: "haproxy",
    holds: true,
    prepare(folder, { listen, upstream }) {
      const text = blockOf("haproxy")
        .replace(/bind .*/, `bind ${here(listen)}`)
        .replace("127.0.0.1:3000", here(upstream));
      return ["haproxy", "-db", "-f", write(folder, "conf", `${text}\n`)];
    },
  },
  Apache: {
    program: "apache2",
    holds: false,
    prepare(folder, { listen, upstream }) {
      const modules = [...APACHE_MODULES, "deflate"].map(
        (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
      );
      const text = [
        ...modules,
        `ServerRoot ${folder}`,
        "ServerName localhost",
        `DefaultRuntimeDir ${folder}`,
        `PidFile ${folder}/pid`,
        `ErrorLog ${folder}/error.log`,
        `Mutex file:${folder}`,
        `Listen ${here(listen)}`,
        "User www-data",
        "Group www-data",
        // Debian compresses these, too.
        "AddOutputFilterByType DEFLATE application/json",
        blockOf("apache").replace("127.0.0.1:3000", here(upstream)),
      ];
      const path = write(folder, "conf", text.join("\n"));
      return ["apache2", "-DFOREGROUND", "-f", path];
    },
  },
  Varnish: {
    program: "varnishd",
    holds: false,
    prepare(folder, { listen, upstream }) {
      const vcl = write(folder, "vcl", blockOf("vcl").replace('"3000"', `"${upstream}"`));
      const words = `-F -a ${here(listen)} -f ${vcl} -n ${folder}/work -s malloc,50m -j none -T none`;
      return ["varnishd", ...words.split(" ")];
    },
  },
  Squid: {
    program: "squid",
    holds: false,
    prepare(folder, { listen, upstream }) {
      const text = [
        blockOf("squid")
          .replace("http_port 80", `http_port ${here(listen)}`)
          .replace("defaultsite=api.example.org", `defaultsite=localhost:${listen}`)
          .replace("parent 3000", `parent ${upstream}`),
        `pid_filename ${folder}/pid`,
        `cache_log ${folder}/cache.log`,
        `coredump_dir ${folder}`,
        "access_log none",
        "pinger_enable off",
        "shutdown_lifetime 0 seconds",
        "visible_hostname localhost",
      ];
      return ["squid", "-N", "-f", write(folder, "conf", text.join("\n"))];
    },
  },
  nghttpx: {
    program: "nghttpx",
    holds: false,
    prepare(folder, { listen, upstream }) {
      const [line = ""] = codeBlocks(readDeploy("proxies.md"), "text");
      const words = line
        .replace("127.0.0.1,3000", `127.0.0.1,${upstream}`)
        .replace(/-f\*,443/, `-f127.0.0.1,${listen};no-tls`)
        .replace(/ \/etc.*/, ` --conf=/dev/null --errorlog-file=${folder}/error.log`);
      return words.split(" ");
    },
  },
};
