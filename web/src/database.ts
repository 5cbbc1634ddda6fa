/**
 * The database of this browser (IndexedDB), one for each pairing: what was saved of the state, and the outbox.
 *
 * Everything of one change is written in one transaction, or not at all. What another build of the app saved of the
 * state is not read: it may have another shape, and the gateway has it. The outbox is nowhere else, and is always read.
 */
import type { Row } from "./outbox.ts";
import type { Changes, Saved } from "./saved.ts";

const PREFIX = "iris-";
const VERSION = 1;
const BUILD = "build";
/** A browser that does not even answer must not keep the app from starting. */
const PATIENCE = 3_000;

export interface Contents {
  readonly saved: Saved | undefined;
  readonly rows: readonly Row[];
}

export class Database {
  private readonly connection: IDBDatabase;
  private readonly build: string;

  private constructor(connection: IDBDatabase, build: string) {
    this.connection = connection;
    this.build = build;
    // Another page wipes it: this one must not stand in the way.
    connection.onversionchange = () => connection.close();
  }

  /** `device` is the pairing, `build` names the running version of the app. */
  static async open(device: string, build: string): Promise<Database> {
    const request = indexedDB.open(PREFIX + device, VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("state");
      request.result.createObjectStore("lanes");
      request.result.createObjectStore("outbox");
    };
    return new Database(await withLimit(resultOf(request)), build);
  }

  async load(): Promise<Contents> {
    const reading = this.connection.transaction(["state", "lanes", "outbox"]);
    const [{ [BUILD]: build, ...parts }, lanes, rows] = await withLimit(Promise.all([
      everythingIn(reading.objectStore("state")),
      everythingIn(reading.objectStore("lanes")),
      resultOf<Row[]>(reading.objectStore("outbox").getAll()),
    ]));
    return { saved: build === this.build ? ({ parts, lanes } as unknown as Saved) : undefined, rows };
  }

  async save({ whole, parts, lanes, dropped }: Changes): Promise<void> {
    const writing = this.connection.transaction(["state", "lanes"], "readwrite");
    const [inState, inLanes] = [writing.objectStore("state"), writing.objectStore("lanes")];
    try {
      if (whole) {
        inState.clear();
        inLanes.clear();
        inState.put(this.build, BUILD);
      }
      for (const [name, part] of Object.entries(parts)) inState.put(part, name);
      for (const [key, lane] of Object.entries(lanes)) inLanes.put(lane, key);
      for (const key of dropped) inLanes.delete(key);
    } catch (cause) {
      // What cannot be stored is refused at once, and what was asked for before it would be written.
      writing.abort();
      throw cause;
    }
    await endOf(writing);
  }

  async rows(): Promise<readonly Row[]> {
    return resultOf<Row[]>(this.connection.transaction("outbox").objectStore("outbox").getAll());
  }

  /** Once this is done, the row survives also a crash of the machine. */
  async put(row: Row): Promise<void> {
    const writing = this.connection.transaction("outbox", "readwrite", { durability: "strict" });
    writing.objectStore("outbox").put(row, row.pending.clientId);
    await endOf(writing);
  }

  async drop(clientId: string): Promise<void> {
    const writing = this.connection.transaction("outbox", "readwrite");
    writing.objectStore("outbox").delete(clientId);
    await endOf(writing);
  }

  close(): void {
    this.connection.close();
  }
}

/** Deletes what earlier pairings left here; of all of them, if none is the present one. */
export async function wipe(present?: string): Promise<void> {
  const found = await indexedDB.databases();
  const names = found.flatMap(({ name }) => (name?.startsWith(PREFIX) && name !== PREFIX + present ? [name] : []));
  await Promise.all(names.map((name) => resultOf(indexedDB.deleteDatabase(name))));
}

async function everythingIn(store: IDBObjectStore): Promise<Record<string, unknown>> {
  const [keys, values] = await Promise.all([resultOf(store.getAllKeys()), resultOf<unknown[]>(store.getAll())]);
  return Object.fromEntries(keys.map((key, at) => [String(key), values[at]]));
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function endOf(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

function withLimit<Result>(work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("the browser's database does not answer")), PATIENCE);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
