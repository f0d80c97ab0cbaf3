import { queryOptions } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call } from '../api/client.ts';

/** A row of `GET /search`. */
export interface FoundEntity {
  readonly entity: string;
  readonly id: string;
  readonly name: string;
  readonly field: string;
  readonly value: string;
  readonly enabled: boolean;
  readonly references: readonly {
    readonly field: string;
    readonly entity: string;
    readonly id: string;
    readonly name: string;
  }[];
}

export interface SearchAnswer {
  readonly data: readonly FoundEntity[];
  readonly read: number;
  readonly complete: boolean;
}

/** Longest query of `GET /search`. */
const maxLength = 200;

export function searchQuery(text: string) {
  const q = text.trim().slice(0, maxLength);
  return queryOptions({
    queryKey: ['search', q],
    queryFn: ({ signal }) => call<SearchAnswer>('GET', `/search?q=${encodeURIComponent(q)}`, { signal }),
    enabled: q !== '',
    gcTime: 30_000,
  });
}

/** Milliseconds without a key before the gateway is asked. */
const delay = 120;

/** The text as it was when the last key was pressed a moment ago. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), delay);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
