import type { ResponseHeadEdit } from '../../plugin-sdk/response-views.ts';

/**
 * Adds the name of a request header to the `Vary` of the response (RFC 9110 12.5.5), if it is not there yet. Caches then store a
 * response per value of that header.
 *
 * @example
 * addVary(context.response, 'Accept-Language');
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
