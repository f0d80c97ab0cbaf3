import { Buffer } from 'node:buffer';
import { type Conversion, type ConvertOptions, toJson, toXml, type XmlBody } from './convert.ts';

/*
 * The conversions in the other thread. Bodies go there and back in shared memory, copied once each way: posted messages are
 * copied several times by the sending thread (32 MB: 190 ms).
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

/** A copy of the bytes in shared memory. */
export function sharedCopy(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  copy.set(bytes);
  return copy;
}
