import { type Reply, refuse } from '../../plugin-sdk/index.ts';

/** A body that cannot be masked because of its type, charset or content coding. The message may be sent to clients. */
export class UnreadableBody extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableBody';
  }
}

/** Statuses by the name of the error: errors of another thread keep only their name. */
const requestStatuses: ReadonlyMap<string, number> = new Map([
  ['BodySyntaxError', 400],
  ['XmlLimitError', 413],
  ['XmlEncodingError', 415],
  ['XmlMappingError', 400],
  ['UnreadableBody', 415],
  ['OffThreadError', 503],
]);

/** The reply to a request whose body cannot be masked; null: another error. */
export function requestRefusal(error: unknown): Reply | null {
  const status = error instanceof Error ? requestStatuses.get(error.name) : undefined;
  if (status === undefined) return null;
  if (status === 503) return refuse(503, 'The body cannot be masked now');
  return refuse(status, (error as Error).message);
}

/** Replaces a response that cannot be masked. */
export function responseRefusal(error: unknown): Reply | null {
  const status = error instanceof Error ? requestStatuses.get(error.name) : undefined;
  if (status === undefined) return null;
  if (status === 503) return refuse(503, 'The answer cannot be masked now');
  return refuse(502, `The answer cannot be masked: ${(error as Error).message}`);
}
