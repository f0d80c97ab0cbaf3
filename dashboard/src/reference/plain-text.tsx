import type { ReactNode } from 'react';

/** A text of somebody else: never markup. Only http and https URLs become links. */
export function PlainText({ text, className = '' }: { readonly text: string; readonly className?: string }) {
  return <p className={`plain-text ${className}`}>{withLinks(text)}</p>;
}

const url = /\bhttps?:\/\/[^\s<>"'`()[\]{}\\]{1,500}/gi;

function withLinks(text: string): readonly ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(url)) {
    const address = match[0].replace(/[.,;:!?]+$/, '');
    if (!isWeb(address)) continue;
    parts.push(text.slice(end, match.index));
    parts.push(
      <a key={match.index} href={address} rel="noreferrer noopener" target="_blank">
        {address}
      </a>,
    );
    end = match.index + address.length;
  }
  parts.push(text.slice(end));
  return parts;
}

function isWeb(address: string): boolean {
  const { protocol } = URL.canParse(address) ? new URL(address) : { protocol: '' };
  return protocol === 'http:' || protocol === 'https:';
}
