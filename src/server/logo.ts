/** Reads the logo of the page, and explains in plain words why it cannot. */
import { reasonOf } from "../files/errors.ts";
import { NotAFileError, openFile } from "../files/read.ts";
import { type Logo, MAX_LOGO_BYTES, parseLogo } from "../web/brand.ts";

/** Given its path or its bytes. Throws an error whose message is for the operator. */
export async function readLogo(logo: string | Uint8Array): Promise<Logo> {
  const name = typeof logo === "string" ? logo : "the logo";
  try {
    return parseLogo(typeof logo === "string" ? await readStart(logo) : logo);
  } catch (error) {
    const isWrong = error instanceof RangeError || error instanceof NotAFileError;
    throw new Error(`${name} ${isWrong ? error.message : `cannot be read: ${reasonOf(error)}`}`);
  }
}

/** As much of the file as a logo may have, and a byte more if there is one. */
async function readStart(path: string): Promise<Uint8Array> {
  const file = await openFile(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_LOGO_BYTES + 1));
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
