/**
 * Puts a new file in the place of an old one, whole or not at all: written in a folder of its own
 * beside it, flushed to disk, renamed. Whoever is killed half way leaves the old file as it was, and a
 * folder that only its owner can look into; the next who writes that file removes it.
 */
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  fstatSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { codeOf, reasonOf } from "./errors.ts";
import { lock } from "./lock.ts";

/** What is to be done when the process ends before a file has its place. */
const unfinished = new Set<() => void>();

/** Removes what files that are being written have beside their targets, for who exits at once. */
export function discardUnfinished(): void {
  for (const discard of [...unfinished].reverse()) discard();
}

/**
 * Has `write` make a file at the path it is given, then moves that file to `target`, where it has
 * the permissions of the one before; a symbolic link stays, and the file it leads to is replaced.
 * `write` gets that file, too. It may leave more beside the path: the folder goes in the end. When
 * `write` throws, `target` is untouched. Errors of the file system become one line that names `target`.
 */
export async function replaceFile<T>(
  target: string,
  write: (path: string, target: string) => Promise<T>,
): Promise<T> {
  try {
    const file = followLinks(target);
    const old = statSync(file, { throwIfNoEntry: false });
    if (old && !old.isFile()) throw new Error(`${target} is not a file that can be replaced`);
    const [parent, name] = [dirname(file), basename(file)];
    accessSync(parent, constants.W_OK);
    const release = lock(join(parent, `.${name}.lock`));
    if (!release) throw new Error(`another command is writing ${target} at this moment`);
    return await discardingAfter(release, () => {
      sweep(parent, name);
      return inFolder(join(parent, `.${name}.tmp-`), async (folder) => {
        const path = join(folder, name);
        const result = await write(path, file);
        keepPermissions(file, path);
        await sync(path);
        renameSync(path, file);
        await sync(parent);
        return result;
      });
    });
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    throw new Error(`cannot write ${target}: ${reasonOf(error)}`);
  }
}

/** Has `use` work in a private temporary folder, which is gone afterwards. */
export function inTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  return inFolder(join(tmpdir(), "roadbook-"), use);
}

/** Whether two paths lead to one file, by whatever links and spelling. `-` is standard input. */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => {
    try {
      return path === "-" ? fstatSync(0) : statSync(path);
    } catch {
      return undefined;
    }
  });
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}

async function inFolder<T>(prefix: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(prefix); // 0700
  return discardingAfter(
    () => rmSync(folder, { recursive: true, force: true }),
    () => use(folder),
  );
}

/** Calls `discard` after `use`, or when the process ends before. */
async function discardingAfter<T>(discard: () => void, use: () => Promise<T>): Promise<T> {
  unfinished.add(discard);
  try {
    return await use();
  } finally {
    unfinished.delete(discard);
    discard();
  }
}

/** The file at the end of symbolic links, whether there is one or not. */
function followLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
  if (!isLink) return resolve(path);
  return followLinks(resolve(realpathSync(dirname(path)), readlinkSync(path)));
}

/** Removes what killed writers of `name` have left. Nobody else writes it: the caller has the lock. */
function sweep(parent: string, name: string): void {
  // Roadbook 0.1 worked at the fixed name.
  const former = [`.${name}.new`, `.${name}.new-journal`];
  for (const entry of readdirSync(parent)) {
    const isFolder = entry.startsWith(`.${name}.tmp-`) && entry.length === name.length + 12;
    if (isFolder || former.includes(entry)) {
      rmSync(join(parent, entry), { recursive: true, force: true });
    }
  }
}

/** Who may read the old file may read the new one. The owner is root's to give. */
function keepPermissions(from: string, to: string): void {
  const old = statSync(from, { throwIfNoEntry: false });
  if (!old) return;
  if (process.getuid?.() === 0) chownSync(to, old.uid, old.gid);
  chmodSync(to, old.mode);
}

async function sync(path: string): Promise<void> {
  await using file = await open(path);
  await file.sync();
}

/** SQLite's errors for what the system refused it, and the system's own. */
function isFileSystemError(error: unknown): boolean {
  return /^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY|PERM)|E[A-Z]+$)/.test(codeOf(error));
}
