/** Hexadecimal digits of a version. */
export const versionLength = 16;

const ending = new RegExp(`[?&]version=([0-9a-f]{${versionLength}})$`);
/** Only in URLs of files: a text may contain the query of a request. */
const anywhere = new RegExp(`(file:[^\\s?]+)[?&]version=[0-9a-f]{${versionLength}}(?![0-9a-z])`, 'g');

export interface VersionedUrl {
  readonly url: string;
  readonly version: string;
}

/** The URL under which a thread loads this version of a module. */
export function versionedUrl(url: string, version: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}version=${version}`;
}

/** Null: the URL names no version. */
export function splitVersion(url: string | undefined): VersionedUrl | null {
  const found = url === undefined ? null : ending.exec(url);
  return found === null ? null : { url: found.input.slice(0, found.index), version: found[1] ?? '' };
}

/** The text without the versions of URLs in it: a stack, a message. */
export function withoutVersions(text: string): string {
  return text.includes('version=') ? text.replace(anywhere, '$1') : text;
}

/** Removes versions from the message and stack of an error. */
export function cleanError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const stack = error.stack ?? '';
  if (error.message.includes('version=')) error.message = withoutVersions(error.message);
  if (stack.includes('version=')) error.stack = withoutVersions(stack);
  return error;
}
