/** A span as Zipkin's API, version 2, takes it (`POST /api/v2/spans`). Ids are hexadecimal, times microseconds. */
export interface ZipkinSpan {
  readonly traceId: string;
  readonly id: string;
  readonly parentId?: string;
  readonly name: string;
  readonly kind: 'SERVER' | 'CLIENT';
  readonly timestamp: number;
  readonly duration: number;
  readonly localEndpoint: ZipkinEndpoint;
  readonly remoteEndpoint?: ZipkinEndpoint;
  readonly annotations?: readonly ZipkinAnnotation[];
  readonly tags: Readonly<Record<string, string>>;
}

export interface ZipkinEndpoint {
  readonly serviceName?: string;
  readonly ipv4?: string;
  readonly ipv6?: string;
  readonly port?: number;
}

export interface ZipkinAnnotation {
  readonly timestamp: number;
  readonly value: string;
}

export function endpoint(ip: string, port: number, serviceName?: string): ZipkinEndpoint {
  return {
    ...(serviceName === undefined ? {} : { serviceName }),
    ...(ip === '' ? {} : ip.includes(':') ? { ipv6: ip } : { ipv4: ip }),
    ...(port > 0 ? { port } : {}),
  };
}

/** Of milliseconds since the epoch. */
export function microseconds(time: number): number {
  return Math.round(time * 1000);
}

/** Zipkin takes 0 for "not known". */
export function duration(start: number, end: number): number {
  return Math.max(1, microseconds(end) - microseconds(start));
}

/** Longer texts are cut: they could be the client's. In characters. */
const maxText = 4096;

export function shown(text: string): string {
  return text.length > maxText ? text.slice(0, maxText).toWellFormed() : text;
}

/** Tags by name, all of them texts; what is null or undefined is left out. */
export function tagsOf(
  values: Readonly<Record<string, string | number | boolean | null | undefined>>,
): Readonly<Record<string, string>> {
  const tags: Record<string, string> = {};
  for (const name in values) {
    const value = values[name];
    if (value !== null && value !== undefined) tags[name] = shown(String(value));
  }
  return tags;
}
