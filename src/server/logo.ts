/** Reads the web page's logo, or explains why it cannot be used. */
import { reasonOf } from "../files/errors.ts";
import { openFile } from "../files/read.ts";
import { type Logo, parseLogo } from "../web/brand.ts";

/** `logo` is a path or the bytes. Throws an error whose message is for the operator. */
export async function readLogo(logo: string | Uint8Array): Promise<Logo> {
  const name = typeof logo === "string" ? logo : "the logo";
  try {
    if (typeof logo !== "string") return parseLogo(logo);
    await using file = await openFile(logo);
    return parseLogo(await file.readFile());
  } catch (error) {
    const isInvalid = error instanceof RangeError;
    throw new Error(`${name} ${isInvalid ? error.message : `cannot be read: ${reasonOf(error)}`}`);
  }
}
