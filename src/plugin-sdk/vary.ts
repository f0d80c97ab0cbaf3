import type { ResponseHeadEdit } from './response-views.ts';

/**
 * Adds the name of a request header to the answer's `Vary` (RFC 9110 12.5.5), unless it is there already. Caches then keep an answer
 * for each value of it.
 */
export function addVary(response: ResponseHeadEdit, name: string): void {
  const values = response.headerValues('vary');
  if (values.some((value) => names(value, name))) return;
  response.setHeader('Vary', [...values, name].join(', '));
}

function names(value: string, name: string): boolean {
  const wanted = name.toLowerCase();
  return value.split(',').some((one) => {
    const given = one.trim().toLowerCase();
    return given === wanted || given === '*';
  });
}
