import { quoted } from '../components/shell-word.ts';
import type { Draft } from './request-draft.ts';
import { requestTarget } from './request-target.ts';

export interface ProxyListener {
  readonly host: string;
  readonly port: number;
  readonly ssl: boolean;
}

/** The request as a command for a shell, sent to the gateway itself; null: the URL is none yet. */
export function curlText({ method, url, headers, body, isBase64 }: Draft, listeners: readonly ProxyListener[]) {
  const target = requestTarget(url.trim());
  if (target === null) return null;
  const [, scheme = '', host = ''] = /^(https?):\/\/([^/?#]+)/i.exec(url.trim()) ?? [];
  const secure = scheme.toLowerCase() === 'https';
  const listener = listeners.find(({ ssl }) => ssl === secure) ?? listeners[0];
  const address = `${listener?.host ?? '127.0.0.1'}:${listener?.port ?? (secure ? 8443 : 8000)}`;
  const parts =
    host === ''
      ? [quoted(`${listener?.ssl === true ? 'https' : 'http'}://${address}${target}`)]
      : [`--connect-to ${quoted(`::${address}`)}`, quoted(`${scheme}://${host}${target}`)];
  if (method === 'HEAD') parts.push('--head');
  else if (method !== (body === '' ? 'GET' : 'POST')) parts.push(`-X ${quoted(method)}`);
  const hasType = headers.some(({ name }) => name.trim().toLowerCase() === 'content-type');
  if (body !== '' && !hasType && /^\s*[[{]/.test(body)) parts.push("-H 'Content-Type: application/json'");
  for (const { name, value } of headers) {
    // Without the semicolon curl leaves an empty header out.
    if (name.trim() !== '') parts.push(`-H ${quoted(value === '' ? `${name.trim()};` : `${name.trim()}: ${value}`)}`);
  }
  if (body !== '') parts.push(`--data-binary ${isBase64 ? '@-' : quoted(body)}`);
  const command = `curl --path-as-is ${parts.join(' \\\n  ')}`;
  return isBase64 && body !== '' ? `printf %s ${quoted(body)} | base64 -d |\n${command}` : command;
}
