/** Reads the web page's logo, or explains why it cannot be used. */
import { reasonOf } from "../files/errors.ts";
import { openFile } from "../files/read.ts";
import { type Logo, MAX_LOGO_BYTES, parseLogo } from "../web/brand.ts";

/** `logo` is a path or the bytes. Throws an error whose message is for the operator. */
export async function readLogo(logo: string | Uint8Array): Promise<Logo> {
  const name = typeof logo === "string" ? logo : "the logo";
  try {
    return parseLogo(typeof logo === "string" ? await readStart(logo) : logo);
  } catch (error) {
    const isInvalid = error instanceof RangeError;
    throw new Error(`${name} ${isInvalid ? error.message : `cannot be read: ${reasonOf(error)}`}`);
  }
}

/** Reads up to one byte more than the limit, which is enough to notice a file that is too large. */
async function readStart(path: string): Promise<Uint8Array> {
  const file = await openFile(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_LOGO_BYTES + 1));
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
