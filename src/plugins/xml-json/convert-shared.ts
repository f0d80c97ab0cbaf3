import { Buffer } from 'node:buffer';
import { type Conversion, type ConvertOptions, toJson, toXml, type XmlBody } from './convert.ts';

/*
 * The conversions as the other thread carries them out. Bodies go there and come back in shared memory, copied once each way: what
 * is posted otherwise is copied several times by the thread that posts (32 MB: 190 ms).
 */

export function toJsonShared(body: XmlBody, options: ConvertOptions): Conversion {
  return sharedResult(toJson({ ...body, bytes: Buffer.from(body.bytes) }, options));
}

export function toXmlShared(bytes: Uint8Array, options: ConvertOptions, failed: number | null): Conversion {
  return sharedResult(toXml(Buffer.from(bytes), options, failed));
}

function sharedResult(conversion: Conversion): Conversion {
  return { ...conversion, body: sharedCopy(conversion.body) };
}

/** The same bytes in memory that all threads see. */
export function sharedCopy(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  copy.set(bytes);
  return copy;
}
