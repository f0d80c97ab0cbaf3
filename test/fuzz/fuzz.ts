import { compareReadings, type Finding } from './compare.ts';
import { generateRequests, generateResponse } from './generate.ts';
import { NodeRequestParser, readNodeResponse } from './node-parser.ts';
import { readRequests, readResponse } from './our-parser.ts';
import { Random } from './random.ts';
import type { MessageKind } from './stricter.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** Stops after this many runs, or this many seconds, whichever comes first. */
  readonly runs: number;
  readonly seconds: number;
  /** Stops after this many findings. */
  readonly maxFindings: number;
}

export interface FuzzFinding extends Finding {
  readonly kind: MessageKind;
  readonly bytes: string;
}

export interface FuzzReport {
  readonly runs: number;
  readonly agreedMessages: number;
  /** How often each reason to be stricter occurred. */
  readonly stricter: ReadonlyMap<string, number>;
  readonly findings: readonly FuzzFinding[];
}

/** Compares the two parsers on one sequence of bytes. */
export async function compareOnce(
  kind: MessageKind,
  bytes: string,
  node: NodeRequestParser,
): Promise<ReturnType<typeof compareReadings>> {
  if (kind === 'request') return compareReadings(kind, bytes, readRequests(bytes), await node.read(bytes));
  const ours = readResponse(bytes);
  // Node's client drops an answer that is followed by junk. Cutting the junk off allows a comparison of where the answer ends.
  return compareReadings(
    kind,
    bytes,
    ours,
    await readNodeResponse(ours.outcome === 'end' ? bytes.slice(0, ours.at) : bytes),
  );
}

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const random = new Random(options.seed);
  const node = new NodeRequestParser();
  const findings: FuzzFinding[] = [];
  const stricter = new Map<string, number>();
  const stopAt = performance.now() + options.seconds * 1000;
  let runs = 0;
  let agreedMessages = 0;
  while (runs < options.runs && performance.now() < stopAt && findings.length < options.maxFindings) {
    const batch = Array.from({ length: Math.min(batchSize, options.runs - runs) }, () => {
      const kind: MessageKind = random.once(3) ? 'response' : 'request';
      return { kind, bytes: kind === 'request' ? generateRequests(random) : generateResponse(random) };
    });
    const results = await Promise.all(batch.map(({ kind, bytes }) => compareOnce(kind, bytes, node)));
    runs += batch.length;
    for (const [index, result] of results.entries()) {
      agreedMessages += result.agreed;
      if (result.stricter !== null) stricter.set(result.stricter, (stricter.get(result.stricter) ?? 0) + 1);
      if (result.finding !== null) findings.push({ ...result.finding, ...(batch[index] as (typeof batch)[number]) });
    }
  }
  return { runs, agreedMessages, stricter, findings: findings.slice(0, options.maxFindings) };
}

/** In parallel, because most of a run is waiting for streams to close. */
const batchSize = 64;
