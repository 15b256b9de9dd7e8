/**
 * Passes connections on, byte by byte, to a server of this process. Bun cannot change the
 * certificate of a server, so after a renewal, new connections go to another one.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type ListenOptions, type Socket } from "node:net";
import { pipeline } from "node:stream";

export const LOOPBACK = "127.0.0.1";

type Server = Pick<Bun.Server<undefined>, "port" | "pendingRequests" | "stop">;

export class Relay {
  #current: Server;
  /** How many connections each server has. Of those that were replaced, has only servers with some. */
  readonly #servers = new Map<Server, number>();
  /** By the port from which a connection is passed on, which is all that its server sees. */
  readonly #clients = new Map<number | undefined, Socket>();
  readonly #front = createServer({ noDelay: true }, (client) => this.#passOn(client));

  constructor(server: Server) {
    this.#current = server;
    this.#servers.set(server, 0);
  }

  /** Returns the port. */
  async listen({ host, port, reusePort }: ListenOptions): Promise<number> {
    await once(this.#front.listen({ host, port, reusePort }), "listening");
    return (this.#front.address() as AddressInfo).port;
  }

  addressOf(port: number | undefined): string | undefined {
    return this.#clients.get(port)?.remoteAddress;
  }

  replace(server: Server): void {
    const old = this.#current;
    this.#current = server;
    this.#servers.set(server, 0);
    this.#count(old, 0);
  }

  /** Stops listening, and closes each connection after its response, or immediately. */
  async stop(closesAll: boolean): Promise<void> {
    this.#front.close();
    await Promise.all(this.#servers.keys().map((server) => server.stop(closesAll)));
  }

  /** Whether a response is not complete yet, or not sent. */
  isBusy(): boolean {
    return (
      this.#servers.keys().some(({ pendingRequests }) => pendingRequests > 0) ||
      this.#clients.values().some(({ writableLength }) => writableLength > 0)
    );
  }

  #passOn(client: Socket): void {
    const server = this.#current;
    this.#count(server, 1);
    let port: number | undefined;
    const upstream = connect({ host: LOOPBACK, port: Number(server.port), noDelay: true }, () => {
      port = upstream.localPort;
      this.#clients.set(port, client);
    });
    pipeline(client, upstream, client, () => {
      this.#clients.delete(port);
      this.#count(server, -1);
    });
  }

  #count(server: Server, change: number): void {
    const connections = (this.#servers.get(server) ?? 0) + change;
    this.#servers.set(server, connections);
    if (connections > 0 || server === this.#current) return;
    this.#servers.delete(server);
    void server.stop();
  }
}
