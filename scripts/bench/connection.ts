/**
 * Owns a client that adds little of its own to a request: one connection, kept open, and on it one
 * request at a time.
 */

export interface Connection {
  /** Asks for a path; resolves to the whole response, rejects when the connection breaks. */
  ask(path: string): Promise<string>;
  close(): void;
}

export async function connect(origin: string): Promise<Connection> {
  const { hostname, port, host } = new URL(origin);
  const broken = new Error("the server closed a connection");
  let received = "";
  let answer: PromiseWithResolvers<string> | undefined;
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, chunk) {
        received += chunk.toString("latin1");
        if (isWhole(received)) answer?.resolve(received);
      },
      close: () => answer?.reject(broken),
    },
  });
  return {
    ask(path) {
      received = "";
      answer = Promise.withResolvers();
      if (socket.readyState !== 1) answer.reject(broken);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      return answer.promise;
    },
    close: () => socket.end(),
  };
}

function isWhole(received: string): boolean {
  const head = received.indexOf("\r\n\r\n");
  if (head < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
  return received.length >= head + 4 + Number(length ?? 0);
}
