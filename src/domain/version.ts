/** Which Roadbook this is, and which version of the interface it speaks. */
import packageJson from "../../package.json" with { type: "json" };

export const version: string = packageJson.version;
export const apiVersion = "v2.1.0";
