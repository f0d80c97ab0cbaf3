import type { JsonValue } from '../../../plugin-kit/json/index.ts';
import { jsonText, parseJson } from '../../../plugin-kit/json/index.ts';
import type { XmlMapping } from '../../../plugin-kit/xml/index.ts';
import { type NestedTargets, type Skeleton, skeletonOf } from '../large-text.ts';
import { compileShape, type ShapeConfig } from '../shape.ts';
import { parsePathBelow } from '../values/reference.ts';

export type BodyFormat = 'json' | 'xml' | 'text';

/** How a response body becomes a value. */
export interface ConvertOptions {
  readonly format: BodyFormat;
  readonly contentType: string | null;
  readonly xml: XmlMapping;
}

/** The conversion of a large response: it is never parsed in the thread that serves clients. */
export interface LargeJob extends ConvertOptions {
  readonly shape: ShapeConfig;
  readonly nestedTargets: NestedTargets;
  /** Paths below the root of the values that others refer to; '' for the whole. */
  readonly references: readonly string[];
}

export interface LargeResult {
  readonly skeleton: Skeleton;
  /** JSON: for each path a list with the value; an empty list if there is no value. */
  readonly references: string;
}

/** Throws the error of the parser, whose message contains nothing of the body. */
export async function convert(body: Uint8Array, { format, contentType, xml }: ConvertOptions): Promise<JsonValue> {
  if (format === 'json') return parseJson(body);
  if (format === 'text') return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  // Most responses are not XML: the parser is loaded only if needed.
  const { xmlToJson } = await import('../../../plugin-kit/xml/index.ts');
  return xmlToJson(body, xml, { contentType });
}

/** Runs in a separate thread. */
export async function convertLarge(body: Uint8Array, job: LargeJob): Promise<LargeResult> {
  const value = await convert(body, job);
  const found = job.references.map((path) => {
    const there = path === '' ? value : parsePathBelow(path)(value);
    return there === undefined ? [] : [there];
  });
  const shape = compileShape(job.shape);
  return {
    skeleton: skeletonOf(shape === null ? value : shape(value), job.nestedTargets),
    references: jsonText(found),
  };
}
