import type { NodeRole } from '../nodes/node-report.ts';

/** What a node reports of itself. */
export interface StoredNode {
  /** UUID. */
  readonly id: string;
  readonly role: NodeRole;
  /** A `NodeReport` as JSON; the store does not read it. */
  readonly data: string;
}

export interface SeenNode extends StoredNode {
  /** When the report arrived, milliseconds since the epoch, by the clock of the database. */
  readonly seenAt: number;
}

/**
 * The nodes of a cluster. Rows are not entities: nothing here waits for `write`, appears in `changes`, or waits for the disk.
 */
export interface NodesStore {
  /** Inserts the reports, or replaces those of the same nodes, all with the time of now. */
  putNodes(nodes: readonly StoredNode[]): Promise<void>;
  /** All nodes by id, and the time of now by the same clock. */
  readNodes(): Promise<{ readonly now: number; readonly nodes: readonly SeenNode[] }>;
  /** How many nodes of these roles have reported within that time (milliseconds). */
  countNodes(roles: readonly NodeRole[], within: number): Promise<number>;
  /** Removes a node: it has stopped. */
  removeNode(id: string): Promise<void>;
  /** Removes nodes that have not reported for that long (milliseconds). Returns how many. */
  deleteNodes(silentFor: number): Promise<number>;
}
