/**
 * Passes connections on, byte by byte, to a server of this process. Bun cannot change the
 * certificate of a server, so after a renewal, new connections go to another one. The
 * sockets are Bun's, because with streams, other clients would wait when many connect.
 */

export const LOOPBACK = "127.0.0.1";

type InnerServer = Pick<Bun.Server<undefined>, "port" | "pendingRequests" | "stop">;
type Socket = Bun.Socket<Half>;

/** One half of a connection that is passed on: to the client, or to the server. */
interface Half {
  /** Undefined before it has opened, and after it has closed. */
  other: Socket | undefined;
  /** The bytes that the socket has not taken yet. Meanwhile, the other one is not read. */
  unsent: Uint8Array;
  onClose(): unknown;
}

interface RelayOptions {
  host: string;
  port: number;
  reusePort?: boolean;
}

export type Relay = ReturnType<typeof createRelay>;

export function createRelay(
  { host, port, reusePort = false }: RelayOptions,
  openServer: () => InnerServer,
) {
  /** By the port from which a connection is passed on, which is all that its server sees. */
  const clients = new Map<number, Socket>();
  const open = (client: Socket) => void passOn(client);
  const options = { hostname: host, port, reusePort, socket: { ...half, open } };
  const listener = Bun.listen<Half>(options);
  /** New connections go to the last one, and the others end with the process. */
  const servers: InnerServer[] = [];
  try {
    servers.push(openServer());
  } catch (error) {
    listener.stop(true);
    throw error;
  }

  async function passOn(client: Socket): Promise<void> {
    client.data = { other: undefined, unsent: NOTHING, onClose() {} };
    client.pause();
    let port = 0;
    const onClose = () => clients.delete(port);
    const data = { other: client, unsent: NOTHING, onClose };
    const address = { hostname: LOOPBACK, port: Number(servers.at(-1)?.port) };
    try {
      const upstream = await Bun.connect<Half>({ ...address, data, socket: half });
      port = upstream.localPort;
      clients.set(port, client);
      client.data.other = upstream;
      if (client.readyState > 0) client.resume();
      else upstream.end();
    } catch {
      client.end();
    }
  }

  return {
    port: listener.port,
    addressOf: (port = 0) => clients.get(port)?.remoteAddress,
    /** From now on, passes new connections on to another server. */
    replace: (next: InnerServer) => void servers.push(next),
    /** Stops listening, and closes each connection after its response, or immediately. */
    async stop(closesAll: boolean): Promise<void> {
      listener.stop(closesAll);
      await Promise.all(servers.map((each) => each.stop(closesAll)));
    },
    /** Whether a response is not complete yet, or not sent. */
    isBusy: (): boolean =>
      servers.some(({ pendingRequests }) => pendingRequests > 0) ||
      clients.values().some(({ data }) => data.unsent.length > 0),
  };
}

const NOTHING = new Uint8Array();

const half = {
  data({ data: { other } }: Socket, bytes: Uint8Array) {
    if (!other) return;
    const { unsent } = other.data;
    other.data.unsent = unsent.length > 0 ? Buffer.concat([unsent, bytes]) : bytes;
    flush(other);
  },
  drain(socket: Socket) {
    if (socket.data.unsent.length > 0) flush(socket);
  },
  close({ data: { other, onClose } }: Socket) {
    onClose();
    if (!other) return;
    other.data.other = undefined;
    flush(other);
  },
};

function flush(socket: Socket): void {
  const { other, unsent } = socket.data;
  const rest = unsent.subarray(Math.max(0, socket.write(unsent)));
  socket.data.unsent = rest;
  if (rest.length > 0) other?.pause();
  else if (other) other.resume();
  else socket.end();
}
