/** The version of Roadbook, and the version of the API that Roadbook implements. */
import packageJson from "../../package.json" with { type: "json" };

export const version: string = packageJson.version;
export const apiVersion = "v2.1.0";
