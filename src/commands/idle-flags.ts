/** Finds flags of `serve` that have no effect, for a warning at the start. */
import { MAX_BYTES_IN_MEMORY } from "../domain/limits.ts";
import { reasonOf } from "../files/errors.ts";
import { makeTemporaryFolder } from "../files/temporary-folder.ts";
import { defaultOf } from "../settings/named-value.ts";
import { type ServeValues, serveSettings } from "../settings/serve-flags.ts";

/** Yields a sentence for each. `isPublic` looks a user up in the snapshot that is served. */
export function* listIdleFlags(
  values: ServeValues,
  isPublic: (id: number) => boolean,
): Generator<string> {
  const { accessLog, logLevel, kiosk, kioskIdle, featured = [], faults = [], cacheDir } = values;
  if (accessLog && !/^(?:trace|debug|info)$/.test(logLevel)) {
    yield `--access-log logs nothing with --log-level ${logLevel}, because it logs at level info`;
  }
  if (!kiosk && kioskIdle !== defaultOf(serveSettings.kioskIdle)) {
    yield "--kiosk-idle has no effect without --kiosk";
  }
  if (featured.length > 0 && !featured.some(isPublic)) {
    yield "--featured has the id of no public driver, so the start page shows none";
  }
  if (faults.length > 1 && faults.includes("none")) {
    yield "--fault none has no effect beside other faults";
  }
  const problem = cacheDir === undefined ? undefined : findFolderProblem(cacheDir);
  if (problem !== undefined) {
    const size = `${MAX_BYTES_IN_MEMORY / 1e6} MB`;
    yield `--cache-dir cannot be used, so no snapshot of over ${size} can be served: ${problem}`;
  }
}

/** Why no file can be written to a folder, which is made if it is missing. */
function findFolderProblem(folder: string): string | undefined {
  try {
    using _ = makeTemporaryFolder(folder);
    return undefined;
  } catch (error) {
    return `${folder}: ${reasonOf(error)}`;
  }
}
