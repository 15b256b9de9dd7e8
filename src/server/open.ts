/** Listens on Bun, or on Node, which Deno also has. Explains to the operator why it cannot. */
import ipaddr from "ipaddr.js";
import { codeOf, reasonOf } from "../files/errors.ts";
import { type ListenAddress, type Listener, listen } from "./listen.ts";

/** On Linux, only root may listen on ports below this one. */
const FIRST_UNPRIVILEGED_PORT = 1024;

/** If listening fails, rejects with an error whose message is for the operator. */
export async function openListener(...given: Parameters<typeof listen>): Promise<Listener> {
  try {
    if (process.versions.bun) return listen(...given);
    return await (await import("./listen-node.ts")).listenOnNode(...given);
  } catch (error) {
    throw listenError(error, given[0]);
  }
}

function listenError(error: unknown, { host, port, flagPrefix }: ListenAddress): Error {
  const code = codeOf(error);
  const advise = (flag: string) => (flagPrefix ? `; choose another with ${flagPrefix}${flag}` : "");
  if (code === "EADDRINUSE") {
    return new Error(`port ${port} on ${host} is already in use${advise("port")}`);
  }
  if (code === "EACCES" && port < FIRST_UNPRIVILEGED_PORT) {
    const rights = "needs root or CAP_NET_BIND_SERVICE, like every port below 1024";
    return new Error(`port ${port} on ${host} ${rights}${advise("port")}`);
  }
  if (code === "EADDRNOTAVAIL") {
    return new Error(`${host} is not an address of this machine${advise("host")}`);
  }
  // Bun has no specific error code for a host name that cannot be resolved.
  if (!ipaddr.isValid(host) && !["EACCES", "EMFILE"].includes(code)) {
    return new Error(`cannot resolve host name ${host}${advise("host")}`);
  }
  return new Error(`cannot listen on ${host} port ${port}: ${reasonOf(error)}`);
}
