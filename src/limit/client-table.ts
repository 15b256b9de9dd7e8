/**
 * The places of clients in memory, and which of them is given up for a newcomer. A network has a
 * share of the places at most, and nobody inherits the searches of another network's client, so no
 * stranger uses up a newcomer's searches. All operations take constant time.
 *
 *     bySize[1]  198.51.100.7, 192.0.2.1      networks with one client, the last changed at the end
 *     bySize[2]  2001:db8:5::/48              networks with two
 *       bySeen     2001:db8:5:1::/64, 2001:db8:5:9::/64      its clients, the last seen at the end
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
  const bySize: List<Network>[] = [];
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
    const isFull = own?.size === share;
    if (!isFull && size < maxClients) return undefined;

    const loser = isFull ? own : bySize.at(-1)?.first;
    const times = loser && forgetFirst(loser);
    return loser === own ? times : undefined;
  }

  function forgetFirst(network: Network): number[] | undefined {
    const { first } = network.bySeen;
    if (!first) return undefined;
    first.leave();
    network.clients?.delete(first.key);
    resize(network, -1);
    return first.times;
  }

  /** Moves a network to the networks of its new size. */
  function resize(network: Network, more: number): void {
    network.size += more;
    size += more;

    network.leave();
    if (network.size === 0) networks.delete(network.name);
    else {
      const others = bySize[network.size] ?? new List<Network>();
      others.add(network);
      bySize[network.size] = others;
    }
    while (bySize.length > 0 && !bySize.at(-1)?.first) bySize.pop();
  }

  return {
    size: () => size,

    /** Returns the times of a client, to be changed in place, and marks the client as just seen. */
    see({ key, network: name }: LimitedClient): number[] {
      const known = networks.get(name)?.find(key);
      const client = known ?? new Tracked(key, makeRoom(name));
      const network = networks.get(name) ?? new Network(name, key !== name);
      networks.set(name, network);
      network.clients?.set(key, client);
      network.bySeen.add(client);
      resize(network, known ? 0 : 1);
      return client.times;
    },

    /** Looks for a few clients whose times have all expired, and drops them. */
    dropExpired(isExpired: (time: number) => boolean): void {
      for (let look = 0; look < LOOKS; look++) {
        const times = swept?.bySeen.first?.times;
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

/**
 * An item of at most one list, in a circle with its neighbours. The order of a Map or a Set would do, but
 * in JavaScriptCore, deleting a key of a large one and adding it again takes up to 0.2 ms if that happens
 * often, as it does when one client sends many requests.
 */
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

class List<Listed extends Linked> {
  /** Closes the circle of items. */
  readonly #end = new Linked();

  get first(): Listed | undefined {
    return this.#end.after === this.#end ? undefined : (this.#end.after as Listed);
  }

  /** Adds an item at the end, also if it was in a list. */
  add(item: Listed): void {
    item.leave();
    item.before = this.#end.before;
    item.after = this.#end;
    item.before.after = item;
    this.#end.before = item;
  }
}

class Tracked extends Linked {
  readonly key: string;
  /** The times of allowed requests, oldest first. */
  readonly times: number[];

  // JavaScriptCore would allocate `[]` as large as earlier arrays: 200 bytes for one timestamp.
  constructor(key: string, times = Array.of<number>()) {
    super();
    this.key = key;
    this.times = times;
  }
}

class Network extends Linked {
  readonly name: string;
  /** By key. Undefined for an address, which is its network's only client, to take less memory. */
  readonly clients: Map<string, Tracked> | undefined;
  /** The least recently seen client first. */
  readonly bySeen = new List<Tracked>();
  size = 0;

  constructor(name: string, hasClients: boolean) {
    super();
    this.name = name;
    this.clients = hasClients ? new Map() : undefined;
  }

  find(key: string): Tracked | undefined {
    return this.clients ? this.clients.get(key) : this.bySeen.first;
  }
}
