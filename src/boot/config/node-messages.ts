import { randomUUID } from 'node:crypto';
import { type Store, StoreError } from '../../control/store/store.ts';
import { EntityAccessError } from '../../plugin-sdk/entity-access.ts';
import { nodeMessages } from '../../shared/entities/node-messages.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';

/** Milliseconds that a message is kept for nodes that are disconnected. A node that was longer without the store has missed it. */
const lifetime = 3_600_000;
/** Maximum length of a message as JSON. */
const maxLength = 16_384;

export interface MessageReceivers {
  received(plugin: string, message: unknown): void;
  /** Messages of any plugin may be lost. */
  missed(): void;
}

export interface NodeMessagesOptions {
  readonly store: Pick<Store, 'write'>;
  /** Other nodes can use the store, too. */
  readonly shared: boolean;
  readonly receivers: MessageReceivers;
}

/** Messages between the nodes that share a store. They are rows, so a node that was disconnected gets them later, in their order. */
export class NodeMessages {
  readonly #options: NodeMessagesOptions;
  /** Not the id of the node: during an upgrade two processes have that. */
  readonly #sender = randomUUID();
  readonly #channels = new Map<string, (message: unknown) => void>();

  constructor(options: NodeMessagesOptions) {
    this.#options = options;
  }

  /** Messages that are not of a plugin. `channel`: begins with `@`, so that no plugin has this name. */
  on(channel: `@${string}`, receive: (message: unknown) => void): void {
    this.#channels.set(channel, receive);
  }

  /** False: no other node can share this store. Rejects with an `EntityAccessError`. */
  async send(plugin: string, message: unknown): Promise<boolean> {
    const { store, shared } = this.#options;
    const text = JSON.stringify(message);
    if (text === undefined || text.length > maxLength) {
      throw new EntityAccessError('invalid', `a message must be JSON of at most ${maxLength} characters`);
    }
    if (!shared) return false;
    const row = { id: randomUUID(), sender: this.#sender, plugin, text };
    try {
      await store.write(({ now, insert }) =>
        insert(nodeMessages.name, { ...row, created_at: now, expires_at: now + lifetime }),
      );
    } catch (error) {
      if (error instanceof StoreError) throw new EntityAccessError('unavailable', error.message);
      throw error;
    }
    return true;
  }

  configChanged({ touched = [], invalidateAll = false }: SnapshotDelta): void {
    const { receivers } = this.#options;
    const messages = touched.filter(({ entity }) => entity === nodeMessages.name);
    // After a comparison of all rows, or when a message has expired since, nobody knows what it said.
    if (invalidateAll || messages.some(({ unread }) => unread === true)) receivers.missed();
    for (const { values } of messages) {
      const { sender, plugin, text } = values;
      if (sender === this.#sender || plugin === undefined || text === undefined) continue;
      const message: unknown = JSON.parse(text);
      const receive = this.#channels.get(plugin);
      if (receive === undefined) receivers.received(plugin, message);
      else receive(message);
    }
  }
}
