/**
 * The places of clients in memory, and which of them is given up for a newcomer. README.md has the
 * rules.
 *
 *     bySize[1]  198.51.100.7, 192.0.2.1      networks with one client, the last changed at the end
 *     bySize[2]  2001:db8:5::/48              networks with two
 *       clients    2001:db8:5:1::/64, 2001:db8:5:9::/64      of that network, the last seen at the end
 *
 * If all places are taken, a newcomer gets that of 2001:db8:5:1::/64: the first client of the first
 * network in the last list. If 2001:db8:5::/48 had its whole share, a newcomer from there would get the
 * same place, also before the table is full, but with the times of that client's searches.
 */
import type { Client } from "./client-address.ts";

/** A client as the limit knows it. */
export type LimitedClient = Pick<Client, "key" | "network">;

/** An IPv6 /48 has 65,536 clients. Sixteen of these networks fill the table. */
const SHARE = 16;
/** How often a decision looks for an expired client: dropping one takes two looks. */
const LOOKS = 4;

export function createClientTable(maxClients: number) {
  const networks = new Map<string, Network>();
  /**
   * The networks by their number of clients, in each list the one that has changed last at the end. The
   * last list is not empty.
   */
  const bySize: NetworkList[] = [];
  let size = 0;
  /** Passes from network to network in search of expired clients. */
  let sweep = networks.values();
  let swept: Network | undefined;

  function nextNetwork(): Network | undefined {
    const { value, done } = sweep.next();
    if (done) sweep = networks.values();
    return value;
  }

  /** Makes room for a new client of a network. Returns the times that it inherits. */
  function makeRoom(name: string): number[] | undefined {
    const own = networks.get(name);
    const share = Math.max(1, Math.floor(maxClients / SHARE));
    const isFull = own?.clients.size === share;
    if (!isFull && size < maxClients) return undefined;

    const loser = isFull ? own : bySize.at(-1)?.first;
    const times = loser && forgetFirst(loser);
    return loser === own ? times : undefined;
  }

  function forgetFirst(network: Network): number[] | undefined {
    const [first] = network.clients;
    if (!first) return undefined;
    const [key, times] = first;
    network.clients.delete(key);
    resize(network, -1);
    return times;
  }

  /** Moves a network to the networks of its new size. */
  function resize(network: Network, more: number): void {
    size += more;
    network.leave();
    const count = network.clients.size;
    if (count === 0) networks.delete(network.name);
    else {
      const others = bySize[count] ?? new NetworkList();
      others.add(network);
      bySize[count] = others;
    }
    while (bySize.length > 0 && !bySize.at(-1)?.first) bySize.pop();
  }

  return {
    size: () => size,

    /** Returns the times of a client, to be changed in place, and marks the client as just seen. */
    see({ key, network: name }: LimitedClient): number[] {
      const known = networks.get(name)?.clients.get(key);
      // JavaScriptCore would allocate `[]` as large as earlier arrays: 200 bytes for one timestamp.
      const times = known ?? makeRoom(name) ?? Array.of<number>();
      const network = networks.get(name) ?? new Network(name);
      networks.set(name, network);
      network.clients.delete(key);
      network.clients.set(key, times);
      resize(network, known ? 0 : 1);
      return times;
    },

    /** Looks for a few clients whose times have all expired, and drops them. */
    dropExpired(isExpired: (time: number) => boolean): void {
      for (let look = 0; look < LOOKS; look++) {
        const [times] = swept?.clients.values() ?? [];
        // A client that was only peeked at has no times, and is dropped as well.
        if (swept && times?.slice(-1).every(isExpired)) forgetFirst(swept);
        else swept = nextNetwork();
      }
    },

    clear(): void {
      networks.clear();
      bySize.length = 0;
      size = 0;
      swept = undefined;
    },
  };
}

/** An item of at most one list, in a circle with its neighbours. */
class Linked {
  before: Linked = this;
  after: Linked = this;

  leave(): void {
    this.before.after = this.after;
    this.after.before = this.before;
    this.before = this;
    this.after = this;
  }
}

class Network extends Linked {
  readonly name: string;
  /** The times of allowed requests by client, oldest first. The least recently seen client is first. */
  readonly clients = new Map<string, number[]>();

  constructor(name: string) {
    super();
    this.name = name;
  }
}

/**
 * The order of a Map would do, as for the clients of a network. But there may be 100,000 networks of one
 * client, and in so large a Map of JavaScriptCore, each time that the same key is deleted and added again
 * makes the next time slower, up to some milliseconds.
 */
class NetworkList {
  /** Closes the circle of networks. */
  readonly #end = new Linked();

  get first(): Network | undefined {
    const { after } = this.#end;
    return after instanceof Network ? after : undefined;
  }

  /** Adds a network at the end, also if it was in a list. */
  add(network: Network): void {
    network.leave();
    network.before = this.#end.before;
    network.after = this.#end;
    network.before.after = network;
    this.#end.before = network;
  }
}
