/** The versions of the program and of the interface that it serves. */
import packageJson from "../../package.json" with { type: "json" };

export const version: string = packageJson.version;
export const apiVersion = "v2.1.0";
