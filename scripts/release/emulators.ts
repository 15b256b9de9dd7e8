/**
 * How Debian on x86-64 runs the executables of a release: itself, or with qemu, Wine, or musl's
 * loader. The files for an emulator are made in a folder that the caller removes; nothing is installed.
 */
import { copyFileSync, existsSync, globSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Platform } from "./platforms.ts";

export interface Emulator {
  /** The platform, with what is special about this way to run it. */
  name: string;
  platform: Platform;
  /** The Debian packages that must be installed. */
  packages: readonly string[];
  /** Makes what is needed in this folder. Returns the words to put before the executable. */
  prepare(folder: string): Promise<string[]> | string[];
  /** Ends what runs in the background. */
  finish?(words: readonly string[]): Promise<void>;
}

/** A file that each package installs. */
const fileOf: Record<string, string> = {
  clang: "/usr/bin/clang",
  lld: "/usr/bin/lld-link",
  musl: "/lib/ld-musl-x86_64.so.1",
  "qemu-user": "/usr/bin/qemu-aarch64",
  wine: "/usr/bin/wine",
};

export const isMissing = (debianPackage: string) => !existsSync(fileOf[debianPackage] ?? "");

export const emulators: readonly Emulator[] = [
  { name: "linux-x64", platform: "linux-x64", packages: [], prepare: () => [] },
  {
    name: "linux-x64, no AVX",
    platform: "linux-x64",
    packages: ["qemu-user"],
    prepare: () => ["qemu-x86_64", "-cpu", "Nehalem"],
  },
  {
    name: "linux-x64-musl",
    platform: "linux-x64-musl",
    packages: ["musl", "clang", "lld"],
    async prepare(folder) {
      const variables = await makeMuslLibraries(folder, "x86_64", "");
      return ["env", ...variables];
    },
  },
  {
    name: "linux-arm64",
    platform: "linux-arm64",
    packages: ["qemu-user"],
    prepare: async (folder) => ["qemu-aarch64", "-L", await unpackArm64(folder)],
  },
  {
    name: "linux-arm64-musl",
    platform: "linux-arm64-musl",
    packages: ["qemu-user", "clang", "lld"],
    async prepare(folder) {
      const root = await unpackArm64(folder);
      const variables = await makeMuslLibraries(folder, "aarch64", root);
      return ["qemu-aarch64", "-L", root, ...variables.flatMap((text) => ["-E", text])];
    },
  },
  {
    name: "windows-x64",
    platform: "windows-x64",
    packages: ["wine", "clang", "lld"],
    prepare: makeWine,
    // Fails if Wine's background processes have already ended.
    async finish(words) {
      await Bun.spawn([...words.slice(0, -1), "wineserver", "--kill"]).exited;
    },
  },
];

/**
 * Unpacks arm64's C libraries. apt gets a state of its own, so that this machine does not become one
 * of two architectures.
 */
async function unpackArm64(folder: string): Promise<string> {
  const root = join(folder, "root");
  mkdirSync(join(folder, "lists"));
  mkdirSync(root);
  const settings = {
    "APT::Architecture": "arm64",
    "APT::Architectures": "arm64",
    "APT::Sandbox::User": "root",
    "Dir::State::Lists": join(folder, "lists"),
    "Dir::State::Status": "/dev/null",
    "Dir::Cache": folder,
    // A mirror does not always answer the first time.
    "Acquire::Retries": "5",
  };
  const apt = ["apt-get", "-qq"];
  for (const [name, text] of Object.entries(settings)) apt.push("-o", `${name}=${text}`);
  await run([...apt, "update"], folder);
  await run([...apt, "download", "libc6", "libgcc-s1", "libstdc++6", "musl"], folder);
  for (const file of globSync("*.deb", { cwd: folder })) {
    await run(["dpkg-deb", "--extract", file, root], folder);
  }
  return root;
}

/**
 * The executables for musl need Alpine's libstdc++. Debian only has one for glibc, which musl's
 * loader accepts if somebody else has the functions that only glibc has. None of them does anything
 * that Bun relies on.
 */
const glibcFunctions = `
typedef __SIZE_TYPE__ size_t;
int getentropy(void *, size_t);
unsigned long getauxval(unsigned long);
size_t strftime_l(char *, size_t, const char *, const void *, void *);

char __libc_single_threaded;
unsigned __cpu_model[4];
int __cpu_indicator_init(void) { return 0; }
int _dl_find_object(void *address, void *result) { return -1; }
int __cxa_thread_atexit_impl(void (*end)(void *), void *object, void *library) { return 0; }
unsigned long __getauxval(unsigned long type) { return getauxval(type); }
size_t __strftime_l(char *to, size_t max, const char *format, const void *time, void *locale) {
  return strftime_l(to, max, format, time, locale);
}
unsigned arc4random(void) {
  unsigned random;
  getentropy(&random, sizeof random);
  return random;
}
`;

/** Returns the variables with which musl's loader finds libstdc++. */
async function makeMuslLibraries(folder: string, processor: string, root: string) {
  const triplet = `${processor}-linux-gnu`;
  const libraries = join(folder, "libraries");
  mkdirSync(libraries);
  copyFileSync(`${root}/usr/lib/${triplet}/libstdc++.so.6`, join(libraries, "libstdc++.so.6"));
  copyFileSync(`${root}/lib/${triplet}/libgcc_s.so.1`, join(libraries, "libgcc_s.so.1"));
  // On x86-64, libstdc++ asks for glibc's loader by this name.
  const name = "ld-linux-x86-64.so.2";
  writeFileSync(join(folder, "glibc.c"), glibcFunctions);
  const compile = ["clang", `--target=${triplet}`, "-shared", "-fPIC", "-nostdlib", "-fuse-ld=lld"];
  await run([...compile, "glibc.c", "-o", join(libraries, name)], folder);
  return [`LD_LIBRARY_PATH=${libraries}`, `LD_PRELOAD=${join(libraries, name)}`];
}

async function makeWine(folder: string): Promise<string[]> {
  const prefix = join(folder, "wine");
  const words = [
    "env",
    `WINEPREFIX=${prefix}`,
    "WINEDEBUG=-all",
    // Does not ask whether to install Mono and Gecko, and adds nothing to the desktop's menus.
    "WINEDLLOVERRIDES=mscoree,mshtml,winemenubuilder.exe=",
  ];
  await run([...words, "wineboot", "--init"], folder);
  const library = join(prefix, "drive_c/windows/system32/bcryptprimitives.dll");
  // Wine 8 lacks this library, of which Bun needs one function. Another library has the same one.
  if (!existsSync(library)) {
    const link = "-Wl,/noentry,/export:ProcessPrng=advapi32.SystemFunction036";
    const compile = ["clang", "--target=x86_64-windows-msvc", "-shared", "-nostdlib"];
    await run([...compile, "-fuse-ld=lld", link, "-x", "c", "/dev/null", "-o", library], folder);
  }
  return [...words, "wine"];
}

async function run(command: readonly string[], cwd = "/"): Promise<void> {
  const child = Bun.spawn([...command], { cwd, stdio: ["ignore", "ignore", "pipe"] });
  const [code, stderr] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  if (code !== 0) throw new Error(`${command.join(" ")} failed: ${stderr.trim()}`);
}
