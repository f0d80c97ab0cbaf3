import { isUtf8 } from 'node:buffer';
import type { RequestView } from '../../plugin-sdk/index.ts';

export interface BasicCredentials {
  readonly user: string;
  /** UTF-8. */
  readonly password: Buffer;
}

/** Of user name and password each, in bytes. Longer ones would make slow hashes slower. */
export const maxPartSize = 1024;

const headers = ['proxy-authorization', 'authorization'] as const;
const shape = /^[Bb]asic +([A-Za-z0-9+/]+={0,2})$/;
const maxHeaderLength = 4096;
const controls = /[\0-\x1f\x7f]/;

/** The fields that carry a scheme of this name, which are removed when credentials are hidden. */
export function basicHeaders(request: RequestView): readonly string[] {
  return headers.filter((name) => request.headerValues(name).some((value) => /^basic(?: |$)/i.test(value)));
}

/** Those of `Proxy-Authorization`, or else those of `Authorization` (RFC 7617). Null: there are none that are valid. */
export function basicCredentials(request: RequestView): BasicCredentials | null {
  return credentialsIn(request, 'proxy-authorization') ?? credentialsIn(request, 'authorization');
}

function credentialsIn(request: RequestView, name: (typeof headers)[number]): BasicCredentials | null {
  const values = request.headerValues(name);
  const value = values[0];
  if (values.length !== 1 || value === undefined || value.length > maxHeaderLength) return null;
  const encoded = shape.exec(value)?.[1];
  return encoded === undefined ? null : split(Buffer.from(encoded, 'base64'));
}

function split(bytes: Buffer): BasicCredentials | null {
  const colon = bytes.indexOf(0x3a);
  if (colon < 1 || colon > maxPartSize || bytes.length - colon - 1 > maxPartSize || !isUtf8(bytes)) return null;
  if (controls.test(bytes.toString('latin1'))) return null;
  return { user: bytes.toString('utf8', 0, colon), password: bytes.subarray(colon + 1) };
}
