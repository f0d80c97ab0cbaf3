import { type Reply, refuse } from '../../plugin-sdk/index.ts';

/** A body that no rule can look into: its type, its charset or its coding is none that is read. The message is fit for a client. */
export class UnreadableBody extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableBody';
  }
}

/** Statuses by the name of the error, which it keeps on its way out of another thread. */
const requestStatuses: ReadonlyMap<string, number> = new Map([
  ['BodySyntaxError', 400],
  ['XmlLimitError', 413],
  ['XmlEncodingError', 415],
  ['XmlMappingError', 400],
  ['UnreadableBody', 415],
  ['OffThreadError', 503],
]);

/** The answer to a request whose body cannot be masked; null: the error is none of a body. */
export function requestFault(error: unknown): Reply | null {
  const status = error instanceof Error ? requestStatuses.get(error.name) : undefined;
  if (status === undefined) return null;
  if (status === 503) return refuse(503, 'The body cannot be masked now');
  return refuse(status, (error as Error).message);
}

/** The answer in the place of one that cannot be masked. */
export function responseFault(error: unknown): Reply | null {
  const status = error instanceof Error ? requestStatuses.get(error.name) : undefined;
  if (status === undefined) return null;
  if (status === 503) return refuse(503, 'The answer cannot be masked now');
  return refuse(502, `The answer cannot be masked: ${(error as Error).message}`);
}
