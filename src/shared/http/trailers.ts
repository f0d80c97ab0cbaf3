/** Fields that are not allowed in a trailer (RFC 9110 6.5.1): framing, routing, authentication, and what the gateway sets itself. */
const forbiddenTrailers =
  /^(?:content-length|transfer-encoding|host|connection|keep-alive|te|trailer|upgrade|expect|via|max-forwards|authorization|proxy-[a-z-]+|cookie|set-cookie|content-(?:encoding|type|range)|cache-control|x-forwarded-[a-z]+|x-real-ip|x-consumer-[a-z-]+|x-credential-identifier|x-anonymous-consumer|x-authenticated-[a-z]+|x-userinfo|x-kong-[a-z-]+)$/;

/** Trailer lines (validated, CRLF after each) without those that are not allowed in a trailer. */
export function keepTrailers(lines: string): string {
  if (lines === '') return '';
  let kept = '';
  for (const line of lines.split('\r\n')) {
    if (line === '') continue;
    const name = line.slice(0, line.indexOf(':')).toLowerCase().replaceAll('_', '-');
    if (!forbiddenTrailers.test(name)) kept += `${line}\r\n`;
  }
  return kept;
}
