/** Why a connection to a backend failed, with the error code to search for. For logs and explanations. */
export function connectCause(error: Error): string {
  const { code = '', reason = '' } = error as { readonly code?: string; readonly reason?: string };
  if (code.startsWith('ERR_SSL_') && reason !== '') {
    const hint = code === 'ERR_SSL_WRONG_VERSION_NUMBER' ? '; does this port speak TLS?' : '';
    return `TLS handshake failed: ${reason} (${code})${hint}`;
  }
  // Node appends advice about its command line.
  const message = error.message.replace(/; if the root CA is installed locally.*$/, '');
  return code === '' || message.includes(code) ? message : `${message} (${code})`;
}
