/** Which Roadbook this is, and which version of the interface it speaks. */
import { version as packageVersion } from "../../package.json" with { type: "json" };

export const version: string = packageVersion;
export const apiVersion = "v2.1.0";
