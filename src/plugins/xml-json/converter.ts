import { Buffer } from 'node:buffer';
import { offThread } from '../../plugin-kit/runtime/index.ts';
import type { PluginTools } from '../../plugin-sdk/index.ts';
import { type Conversion, type ConvertOptions, toJson, toXml, type XmlBody } from './convert.ts';
import { sharedCopy } from './convert-shared.ts';

/**
 * Maximum bytes of a body that is converted in the worker; larger ones go to another thread. The worst content of this size (elements
 * of four bytes a hundred levels deep, arrays of single digits) takes 10 to 20 ms before the code is optimised.
 */
export const atOnce = Object.freeze({ xml: 32 * 1024, json: 16 * 1024 });

/** Milliseconds for one body in the other thread. */
const deadline = 10_000;

const there = new URL('./convert-shared.ts', import.meta.url);
const toJsonThere = offThread<[XmlBody, ConvertOptions], Conversion>(there, 'toJsonShared', { deadline });
const toXmlThere = offThread<[Uint8Array, ConvertOptions, number | null], Conversion>(there, 'toXmlShared', {
  deadline,
});

/** Converts bodies, large ones in another thread. */
export class Converter {
  readonly #options: ConvertOptions;
  readonly #count: PluginTools['count'];

  constructor(options: ConvertOptions, count: PluginTools['count']) {
    this.#options = options;
    this.#count = count;
  }

  /** Throws, or rejects, like `toJson` of `convert.ts`, and with an `OffThreadError`. `client`: IP address. */
  toJson(body: XmlBody, client: string): Conversion | Promise<Conversion> {
    if (body.bytes.byteLength <= atOnce.xml) return toJson(body, this.#options);
    this.#count('other_thread');
    return toJsonThere.forClient(client, { ...body, bytes: sharedCopy(body.bytes) }, this.#options).then(ownCopy);
  }

  /** `failed`: the status of a response that becomes a SOAP fault; null: none. */
  toXml(bytes: Uint8Array, failed: number | null, client: string): Conversion | Promise<Conversion> {
    if (bytes.byteLength <= atOnce.json) return toXml(bytes, this.#options, failed);
    this.#count('other_thread');
    return toXmlThere.forClient(client, sharedCopy(bytes), this.#options, failed).then(ownCopy);
  }
}

function ownCopy(conversion: Conversion): Conversion {
  return { ...conversion, body: Buffer.from(conversion.body) };
}
