import type { JsonValue } from '../../plugin-sdk/json.ts';
import { jsonText, parseJson } from '../../plugin-sdk/json.ts';
import type { XmlMapping } from '../../plugin-sdk/xml.ts';
import { type Opening, type Skeleton, skeletonOf } from './large-text.ts';
import { parsePath } from './reference.ts';
import { compileShape, type ShapeConfig } from './shape.ts';

export type BodyFormat = 'json' | 'xml' | 'text';

/** How an answer becomes a value. */
export interface ConvertOptions {
  readonly format: BodyFormat;
  readonly contentType: string | null;
  readonly xml: XmlMapping;
}

/** All that is to be made of a large answer: it never becomes a value in the thread that serves clients. */
export interface LargeJob extends ConvertOptions {
  readonly shape: ShapeConfig;
  readonly opening: Opening;
  /** Paths of the values that others refer to; '' for the whole. */
  readonly references: readonly string[];
}

export interface LargeResult {
  readonly skeleton: Skeleton;
  /** JSON: for each path a list with the value, an empty one when there is none. */
  readonly references: string;
}

/** Throws what reading the format throws: an error about the body, whose message shows nothing of it. */
export async function convert(body: Uint8Array, { format, contentType, xml }: ConvertOptions): Promise<JsonValue> {
  if (format === 'json') return parseJson(body);
  if (format === 'text') return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  // Most answers are no XML, and need no parser of it.
  const { xmlToJson } = await import('../../plugin-sdk/xml.ts');
  return xmlToJson(body, xml, { contentType });
}

/** Runs in a thread of its own. */
export async function convertLarge(body: Uint8Array, job: LargeJob): Promise<LargeResult> {
  const value = await convert(body, job);
  const found = job.references.map((path) => {
    const there = path === '' ? value : parsePath(path)(value);
    return there === undefined ? [] : [there];
  });
  const shape = compileShape(job.shape);
  return { skeleton: skeletonOf(shape === null ? value : shape(value), job.opening), references: jsonText(found) };
}
